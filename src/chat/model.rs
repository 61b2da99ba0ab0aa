//! Threads and messages as callers see them.

use chrono::{DateTime, Utc};

use super::{
    content::Content,
    error::Result,
    id::{self, MessageId, ThreadId},
};

/// What names a thread: there is exactly one per agent, channel and person in a team.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadKey {
    /// The agent's id, the product's own string.
    pub agent_id: String,
    /// Where the conversation takes place.
    pub channel: String,
    /// The person's id, the product's own string.
    pub person_id: String,
}

impl ThreadKey {
    /// Checks the three names.
    ///
    /// # Errors
    /// [`Error::BadInput`](super::error::Error::BadInput) naming the one that is not of its form.
    pub fn new(agent_id: String, channel: String, person_id: String) -> Result<Self> {
        id::check_name("agentId", &agent_id)?;
        id::check_channel(&channel)?;
        id::check_name("personId", &person_id)?;
        Ok(Self {
            agent_id,
            channel,
            person_id,
        })
    }
}

/// The one conversation of an agent with a person on a channel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Thread {
    /// Unique everywhere.
    pub id: ThreadId,
    /// What names it in its team.
    pub key: ThreadKey,
    /// When it began.
    pub created_at: DateTime<Utc>,
    /// When its newest message was stored.
    pub last_message_at: DateTime<Utc>,
    /// How many messages it holds, boundaries included.
    pub message_count: i64,
    /// Its oldest message.
    pub first_message_id: MessageId,
    /// Its newest message.
    pub last_message_id: MessageId,
    /// The newest boundary.
    pub boundary_id: Option<MessageId>,
    /// The newest boundary that is a reset.
    pub reset_id: Option<MessageId>,
    /// The last message that the newest boundary takes out of the context.
    pub context_after: Option<MessageId>,
}

/// Under which boundary a turn began, as far as its agent said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeganUnder {
    /// The agent did not say: the turn belongs to now.
    Now,
    /// There was no boundary.
    NoBoundary,
    /// This was the newest boundary.
    Boundary(MessageId),
}

impl Thread {
    /// Whether a turn that began then and is stored now comes after a reset it knows nothing of.
    #[must_use]
    pub fn is_late(&self, began: BeganUnder) -> bool {
        match (began, self.reset_id) {
            (BeganUnder::Now, _) | (_, None) => false,
            (BeganUnder::NoBoundary, Some(_)) => true,
            (BeganUnder::Boundary(boundary), Some(reset)) => boundary < reset,
        }
    }
}

impl Thread {
    /// Takes in messages that were stored in it: at its end, or in its past.
    pub fn grow(&mut self, messages: &[Message]) {
        self.message_count += i64::try_from(messages.len()).unwrap_or(i64::MAX);
        for message in messages {
            self.first_message_id = self.first_message_id.min(message.id);
            if message.id >= self.last_message_id {
                self.last_message_id = message.id;
                self.last_message_at = message.created_at;
            }
            let Some(boundary) = &message.boundary else {
                continue;
            };
            if boundary.reason == BoundaryReason::Reset {
                self.reset_id = self.reset_id.max(Some(message.id));
            }
            if self.boundary_id.is_none_or(|newest| message.id > newest) {
                self.boundary_id = Some(message.id);
                self.context_after = match boundary.reason {
                    // A reset takes everything before itself out.
                    BoundaryReason::Reset => Some(message.id),
                    BoundaryReason::Compaction { .. } => boundary.through,
                };
            }
        }
    }
}

/// Who said something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The person.
    User,
    /// The agent.
    Assistant,
    /// A tool that the agent called.
    Tool,
    /// The product.
    System,
}

impl Role {
    /// Its name in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::System => "system",
        }
    }

    /// The role of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::User, Self::Assistant, Self::Tool, Self::System]
            .into_iter()
            .find(|role| role.as_str() == name)
    }
}

/// How a stored turn ended. A failed one is never stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The agent finished it.
    Completed,
    /// The person stopped it.
    Stopped,
}

impl Outcome {
    /// Its name in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Stopped => "stopped",
        }
    }

    /// The outcome of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Completed, Self::Stopped]
            .into_iter()
            .find(|outcome| outcome.as_str() == name)
    }
}

/// One stored row of a thread; it never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its order in the thread is the reading order.
    pub id: MessageId,
    /// The thread it is in.
    pub thread_id: ThreadId,
    /// The turn that wrote it and how that ended; none on a boundary.
    pub turn: Option<TurnRef>,
    /// Who said it.
    pub role: Role,
    /// What was said.
    pub content: Content,
    /// Tokens it cost, when the agent said so.
    pub tokens: Option<i32>,
    /// The person stopped the turn while this was being written.
    pub stopped: bool,
    /// It was stored after a reset that its turn did not know of: kept for people, not given to the model.
    pub late: bool,
    /// Set when this row is a boundary.
    pub boundary: Option<Boundary>,
    /// Whether the model is given it now.
    pub in_context: bool,
    /// When it was stored.
    pub created_at: DateTime<Utc>,
}

/// The turn a message belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnRef {
    /// The caller's id of it.
    pub id: String,
    /// How it ended.
    pub outcome: Outcome,
}

/// The line in a thread before which the model sees nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boundary {
    /// Why it was drawn.
    pub reason: BoundaryReason,
    /// The last message that it takes out of the context; none when a reset is all the thread had.
    pub through: Option<MessageId>,
}

/// Why a boundary was drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BoundaryReason {
    /// Somebody started over.
    Reset,
    /// The older turns were replaced by this summary.
    Compaction {
        /// What the model is given instead of them.
        summary: String,
    },
}

impl BoundaryReason {
    /// Its name in JSON.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Reset => "reset",
            Self::Compaction { .. } => "compaction",
        }
    }
}

impl Boundary {
    /// What the model is given instead of the turns before the line.
    #[must_use]
    pub fn summary(&self) -> Option<&str> {
        match &self.reason {
            BoundaryReason::Reset => None,
            BoundaryReason::Compaction { summary } => Some(summary),
        }
    }
}
