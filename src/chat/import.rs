//! History that was made elsewhere, or here at another time.

use chrono::{DateTime, Utc};

use super::{
    id::{MessageId, ThreadId},
    model::{Message, ThreadKey},
};

/// A whole turn, or a boundary, that lands in a thread's past with the ids and times it has.
#[derive(Clone, Debug)]
pub struct ImportedTurn {
    /// The thread's key; a thread that has it is joined.
    pub key: ThreadKey,
    /// The thread's id, should it have to be made.
    pub thread_id: ThreadId,
    /// When the thread began, should it have to be made.
    pub thread_created_at: DateTime<Utc>,
    /// The messages of one turn in their order, or one boundary; `thread_id` and `in_context` in them do not count.
    pub messages: Vec<Message>,
}

impl ImportedTurn {
    /// The turn's id; none when this is a boundary.
    #[must_use]
    pub fn turn_id(&self) -> Option<&str> {
        self.messages.first()?.turn.as_ref().map(|turn| turn.id.as_str())
    }

    /// The first message's id.
    #[must_use]
    pub fn first_id(&self) -> Option<MessageId> {
        self.messages.first().map(|message| message.id)
    }

    /// The last message's id.
    #[must_use]
    pub fn last_id(&self) -> Option<MessageId> {
        self.messages.last().map(|message| message.id)
    }
}
