//! What keeps the rows: a trait, so that the gateway does not know which database it is.

use async_trait::async_trait;
use uuid::Uuid;

use super::{
    cursor::{HistoryView, ThreadOrder},
    error::Result,
    id::{MessageId, ThreadId},
    import::ImportedTurn,
    model::{Message, Thread, ThreadKey},
    page::{Cut, Extent},
    turn::NewTurn,
};

/// Rows in, rows out. Every method that touches chats names their team; what belongs to another team is as absent
/// as what does not exist.
///
/// Every method may fail with [`Error::Unavailable`](super::error::Error::Unavailable) or
/// [`Error::Internal`](super::error::Error::Internal); further refusals are named at the method.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Fails unless the database can be read and written.
    async fn ready(&self) -> Result<()>;

    /// The secret that signs cursors when none is configured: made once, by whoever comes first.
    async fn cursor_secret(&self) -> Result<Vec<u8>>;

    /// What has to be done from time to time, by any replica: partitions made ahead.
    async fn maintain(&self) -> Result<()>;

    /// The threads of these ids, in any order, those that do not exist left out.
    async fn threads_by_id(&self, team_id: &str, ids: &[ThreadId]) -> Result<Vec<Thread>>;

    /// The thread of a key.
    async fn thread_by_key(&self, team_id: &str, key: &ThreadKey) -> Result<Option<Thread>>;

    /// An agent's threads, newest first.
    async fn threads(&self, team_id: &str, range: ThreadRange) -> Result<Cut<Thread>>;

    /// A team's threads, oldest first, after one of them.
    async fn threads_after(
        &self,
        team_id: &str,
        after: Option<ThreadId>,
        filter: &ThreadFilter,
    ) -> Result<Vec<Thread>>;

    /// An agent's messages over all its threads, newest first.
    async fn agent_messages(&self, team_id: &str, range: AgentRange) -> Result<Cut<Message>>;

    /// Ranges of threads' messages, one answer a range and in their order, in a fixed number of statements.
    async fn messages(&self, team_id: &str, ranges: Vec<MessageRange>) -> Result<Vec<Cut<Message>>>;

    /// Single messages of threads, in any order, those that do not exist left out, in a fixed number of statements.
    async fn messages_by_id(&self, team_id: &str, ids: Vec<(Thread, MessageId)>) -> Result<Vec<Message>>;

    /// Stores a whole turn, or nothing; a turn id that is stored already is answered with what is stored.
    ///
    /// Fails with `Conflict` when it was stored with another body, and with `BadInput` when it names a boundary
    /// that the thread does not have.
    async fn append(&self, team_id: &str, turn: NewTurn) -> Result<Appended>;

    /// Draws a boundary at the end of a thread, under its lock.
    ///
    /// Fails with `NotFound` when there is no such thread, and with `Conflict` when the thread has moved past what
    /// a compaction names.
    async fn draw(&self, team_id: &str, thread_id: ThreadId, line: NewLine) -> Result<Drawn>;

    /// Checks turns of the past against what is stored, and with `write` stores those that are not there yet.
    /// Says how many were new.
    ///
    /// Fails with `Conflict` when one cannot be stored beside what is there.
    async fn import(&self, team_id: &str, turns: Vec<ImportedTurn>, write: bool) -> Result<u64>;
}

/// Narrows a list of threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadFilter {
    /// Only this agent's.
    pub agent_id: Option<String>,
    /// Only this channel's.
    pub channel: Option<String>,
    /// Only this person's.
    pub person_id: Option<String>,
    /// Only this one.
    pub thread_id: Option<ThreadId>,
}

/// A part of an agent's list of threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadRange {
    /// The agent.
    pub agent_id: String,
    /// Only this channel's.
    pub channel: Option<String>,
    /// Only this person's.
    pub person_id: Option<String>,
    /// What the list is ordered by.
    pub order: ThreadOrder,
    /// Only what comes before this: a thread's id, or a newest message's for the order of activity.
    pub before: Option<Uuid>,
    /// How much to read.
    pub extent: Extent,
}

/// A part of an agent's list of messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentRange {
    /// The agent.
    pub agent_id: String,
    /// Only threads of this channel.
    pub channel: Option<String>,
    /// Only threads of this person.
    pub person_id: Option<String>,
    /// Only what comes before this message.
    pub before: Option<MessageId>,
    /// How much to read.
    pub extent: Extent,
}

/// A part of a thread's messages.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MessageRange {
    /// The thread, as it was read: nothing newer than its newest message is.
    pub thread: Thread,
    /// Which of its messages.
    pub view: HistoryView,
    /// Where to begin, and which way to go.
    pub walk: Walk,
    /// How much to read.
    pub extent: Extent,
}

/// Which way to read a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Walk {
    /// Newest first, from before this message or from the end.
    Back(Option<MessageId>),
    /// Oldest first, from after this message or from the start.
    Forward(Option<MessageId>),
}

/// A turn as it is stored now.
#[derive(Clone, Debug)]
pub struct Appended {
    /// The thread; none after a failed turn on a thread that does not exist.
    pub thread: Option<Thread>,
    /// Its messages; empty after a failed turn.
    pub messages: Vec<Message>,
    /// It had been stored before and nothing was written now.
    pub replayed: bool,
}

/// A boundary to draw.
#[derive(Clone, Debug)]
pub enum NewLine {
    /// Start over.
    Reset,
    /// Replace the older turns by a summary.
    Compaction {
        /// What the model is given instead.
        summary: String,
        /// The last message that the summary covers.
        through: MessageId,
    },
}

/// A boundary as it is stored now.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The thread.
    pub thread: Thread,
    /// The boundary it now ends with.
    pub boundary: Message,
    /// False when the thread already ended with a reset boundary.
    pub drawn: bool,
}
