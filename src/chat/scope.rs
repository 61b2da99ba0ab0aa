//! Whom a request speaks for, and what that allows.

use std::str::FromStr;

use super::{
    error::{Error, Result},
    id,
    model::{Thread, ThreadKey},
};

/// The team of a server without auth, and of the commands when no other is named.
pub const DEFAULT_TEAM: &str = "default";

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

impl ViewerRole {
    /// Every role.
    pub const ALL: [Self; 4] = [Self::Widget, Self::Dashboard, Self::Agent, Self::Admin];

    /// The role's name, as tokens have it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Widget => "widget",
            Self::Dashboard => "dashboard",
            Self::Agent => "agent",
            Self::Admin => "admin",
        }
    }

    /// Whether the role is that of a program, which works faster than people do.
    #[must_use]
    pub const fn is_program(self) -> bool {
        matches!(self, Self::Agent | Self::Admin)
    }
}

impl FromStr for ViewerRole {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|role| role.as_str() == name)
            .ok_or_else(|| Error::bad_input("role is widget, dashboard, agent or admin"))
    }
}

/// What narrows a viewer to a part of its team's chats.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Narrowing {
    /// Only this agent's chats.
    pub agent_id: Option<String>,
    /// Only this channel's threads.
    pub channel: Option<String>,
    /// Only this person's threads.
    pub person_id: Option<String>,
}

/// A team, a role and what narrows them. Every method of the gateway takes one first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scope {
    team_id: String,
    role: ViewerRole,
    narrowed_to: Narrowing,
}

impl Scope {
    /// The scope that a token grants.
    ///
    /// # Errors
    /// [`Error::BadInput`] when a name is none, and when a widget is not narrowed to one thread: what a token leaves
    /// out must never widen it.
    pub fn new(team_id: String, role: ViewerRole, narrowed_to: Narrowing) -> Result<Self> {
        id::check_name("team", &team_id)?;
        // Somebody's wildcard would be a team of that name here, which nobody means.
        if team_id == "*" {
            return Err(Error::bad_input(
                "team is the id of one team, there is no wildcard",
            ));
        }
        let Narrowing {
            agent_id,
            channel,
            person_id,
        } = &narrowed_to;
        if role == ViewerRole::Widget && (agent_id.is_none() || channel.is_none() || person_id.is_none()) {
            return Err(Error::bad_input(
                "the role widget needs agent, channel and person",
            ));
        }
        agent_id
            .as_deref()
            .map_or(Ok(()), |id| id::check_name("agent", id))?;
        channel.as_deref().map_or(Ok(()), id::check_channel)?;
        person_id
            .as_deref()
            .map_or(Ok(()), |id| id::check_name("person", id))?;
        Ok(Self {
            team_id,
            role,
            narrowed_to,
        })
    }

    /// The scope of whoever has the database at hand: role ADMIN of a team.
    ///
    /// # Errors
    /// [`Error::BadInput`] when the team's id is none.
    pub fn admin_of(team_id: &str) -> Result<Self> {
        Self::new(team_id.to_owned(), ViewerRole::Admin, Narrowing::default())
    }

    /// The scope of a server without any auth: role ADMIN of the team [`DEFAULT_TEAM`].
    #[must_use]
    pub fn local() -> Self {
        Self::admin_of(DEFAULT_TEAM).expect("the default team has a name")
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
        self.narrowed_to.agent_id.as_deref()
    }

    /// Set when only this channel's threads can be seen.
    #[must_use]
    pub fn channel(&self) -> Option<&str> {
        self.narrowed_to.channel.as_deref()
    }

    /// Set when only this person's threads can be seen.
    #[must_use]
    pub fn person_id(&self) -> Option<&str> {
        self.narrowed_to.person_id.as_deref()
    }

    /// The one thread that the scope names, when it names agent, channel and person.
    #[must_use]
    pub fn thread_key(&self) -> Option<ThreadKey> {
        Some(ThreadKey {
            agent_id: self.narrowed_to.agent_id.clone()?,
            channel: self.narrowed_to.channel.clone()?,
            person_id: self.narrowed_to.person_id.clone()?,
        })
    }

    /// Fails unless the viewer is an agent's runtime or an admin: others read and reset.
    ///
    /// # Errors
    /// [`Error::Forbidden`].
    pub const fn require_writer(&self) -> Result<()> {
        match self.role {
            ViewerRole::Agent | ViewerRole::Admin => Ok(()),
            ViewerRole::Widget | ViewerRole::Dashboard => {
                Err(Error::Forbidden("only the roles agent and admin may do this"))
            }
        }
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
