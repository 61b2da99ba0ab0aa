//! Whom a request speaks for, and what that allows.

use super::model::{Thread, ThreadKey};

/// What a viewer may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ViewerRole {
    /// One person: reads and resets the one thread that the token names.
    Widget,
    /// A member of the team: reads and resets any thread of the team.
    Dashboard,
    /// An agent's runtime: reads, appends, compacts and resets.
    Agent,
    /// Everything.
    Admin,
}

/// A team, a role and what narrows them. Every method of the gateway takes one first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scope {
    team_id: String,
    role: ViewerRole,
    agent_id: Option<String>,
    channel: Option<String>,
    person_id: Option<String>,
}

impl Scope {
    /// The scope of a server without any auth: role ADMIN of the team `default`.
    #[must_use]
    pub fn local() -> Self {
        Self {
            team_id: "default".to_owned(),
            role: ViewerRole::Admin,
            agent_id: None,
            channel: None,
            person_id: None,
        }
    }

    /// The team whose chats can be seen.
    #[must_use]
    pub fn team_id(&self) -> &str {
        &self.team_id
    }

    /// What the viewer may do.
    #[must_use]
    pub const fn role(&self) -> ViewerRole {
        self.role
    }

    /// Set when only this agent's chats can be seen.
    #[must_use]
    pub fn agent_id(&self) -> Option<&str> {
        self.agent_id.as_deref()
    }

    /// Set when only this channel's threads can be seen.
    #[must_use]
    pub fn channel(&self) -> Option<&str> {
        self.channel.as_deref()
    }

    /// Set when only this person's threads can be seen.
    #[must_use]
    pub fn person_id(&self) -> Option<&str> {
        self.person_id.as_deref()
    }

    /// The one thread that the scope names, when it names agent, channel and person.
    #[must_use]
    pub fn thread_key(&self) -> Option<ThreadKey> {
        Some(ThreadKey {
            agent_id: self.agent_id.clone()?,
            channel: self.channel.clone()?,
            person_id: self.person_id.clone()?,
        })
    }

    /// Whether the viewer may see an agent at all.
    #[must_use]
    pub fn sees_agent(&self, agent_id: &str) -> bool {
        covers(self.agent_id(), agent_id)
    }

    /// Whether the viewer may see the thread of a key.
    #[must_use]
    pub fn sees_key(&self, key: &ThreadKey) -> bool {
        self.sees_agent(&key.agent_id)
            && covers(self.channel(), &key.channel)
            && covers(self.person_id(), &key.person_id)
    }

    /// Whether the viewer may see a thread of its team.
    #[must_use]
    pub fn sees(&self, thread: &Thread) -> bool {
        self.sees_key(&thread.key)
    }
}

fn covers(narrowed_to: Option<&str>, name: &str) -> bool {
    narrowed_to.is_none_or(|only| only == name)
}
