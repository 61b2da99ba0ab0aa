//! What mutations take.

use async_graphql::{Enum, ID, InputObject, MaybeUndefined};

use super::{message::Role, scalar::JsonScalar};
use crate::chat::{
    error::{Error, Result},
    json::Json,
    model::{BeganUnder, Outcome, ThreadKey},
    turn::{MessageDraft, TurnDraft},
};

/// Names a thread by its key: there is exactly one per agent, channel and person in a team.
#[derive(InputObject)]
pub struct ThreadKeyInput {
    /// The agent's id.
    agent_id: ID,
    /// The channel.
    channel: String,
    /// The person's id.
    person_id: ID,
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
enum TurnOutcome {
    /// The agent finished the turn.
    Completed,
    /// The person stopped the turn; the text delivered until then is kept and marked.
    Stopped,
    /// The turn ended in an error; nothing of it is stored.
    Failed,
}

/// The input of the `appendTurn` mutation.
#[derive(InputObject)]
pub struct AppendTurnInput {
    /// The thread to write to; its first turn creates it.
    thread: ThreadKeyInput,
    /// Chosen by the caller, unique in the thread: sending the same turn twice stores it once.
    turn_id: ID,
    /// The messages of the turn, in the order they were said.
    messages: Vec<MessageInput>,
    /// How the turn ended. A failed turn stores nothing.
    #[graphql(default_with = "TurnOutcome::Completed")]
    outcome: TurnOutcome,
    /// `Context.boundaryId` as it was when the turn began: null when there was none. If the thread was reset since,
    /// the turn is stored for people but not given to the model. Left out, the turn belongs to now.
    boundary_id: MaybeUndefined<ID>,
}

/// A message of a turn.
#[derive(InputObject)]
struct MessageInput {
    /// Who said it.
    role: Role,
    /// What was said: `{"parts": [ … ]}`.
    content: JsonScalar,
    /// Tokens it cost, when known.
    tokens: Option<i32>,
}

/// The input of the `resetThread` mutation.
#[derive(InputObject)]
pub struct ResetThreadInput {
    /// The thread to start over.
    pub thread_id: ID,
}

/// The input of the `compactThread` mutation.
#[derive(InputObject)]
pub struct CompactThreadInput {
    /// The thread to compact.
    pub thread_id: ID,
    /// What the model gets instead of the turns up to `throughMessageId`. Not empty.
    pub summary: String,
    /// The last message that the summary covers: the last of a turn, after the present boundary.
    pub through_message_id: ID,
}

impl ThreadKeyInput {
    /// The key, checked.
    pub fn into_key(self) -> Result<ThreadKey> {
        ThreadKey::new(self.agent_id.0, self.channel, self.person_id.0)
    }
}

impl AppendTurnInput {
    /// The turn, as far as it can be read.
    pub fn into_draft(self) -> Result<TurnDraft> {
        let began = match self.boundary_id {
            MaybeUndefined::Undefined => BeganUnder::Now,
            MaybeUndefined::Null => BeganUnder::NoBoundary,
            MaybeUndefined::Value(id) => BeganUnder::Boundary(id.parse()?),
        };
        let outcome = match self.outcome {
            TurnOutcome::Completed => Some(Outcome::Completed),
            TurnOutcome::Stopped => Some(Outcome::Stopped),
            TurnOutcome::Failed => None,
        };
        let messages = self.messages.into_iter().map(MessageInput::into_draft);
        let messages = messages.collect::<Result<_>>()?;
        Ok(TurnDraft {
            key: self.thread.into_key()?,
            turn_id: self.turn_id.0,
            outcome,
            began,
            messages,
        })
    }
}

impl MessageInput {
    fn into_draft(self) -> Result<MessageDraft> {
        let content = match self.content {
            JsonScalar::Given(json) => json.map_err(Error::BadInput)?,
            JsonScalar::Stored(content) => Json::String(content.into_string()),
        };
        Ok(MessageDraft {
            role: self.role.into(),
            content,
            tokens: self.tokens,
        })
    }
}
