//! `Message` and its `Boundary`.

use async_graphql::{Context, Enum, ID, Object, SimpleObject};

use super::{
    error::Field,
    scalar::{JsonScalar, Time},
    session::Session,
    thread::ThreadObject,
};
use crate::chat::model;

/// A message.
pub struct MessageObject(pub model::Message);

/// Who said it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "model::Role")]
pub enum Role {
    /// The person.
    User,
    /// The agent.
    Assistant,
    /// A tool that the agent called.
    Tool,
    /// The product; also the role of a boundary.
    System,
}

/// Why a boundary was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
enum BoundaryReason {
    /// Somebody chose to start over: `resetThread`.
    Reset,
    /// The thread grew and its older turns were replaced by a summary: `compactThread`.
    Compaction,
}

/// The line in a thread before which the model sees nothing.
#[derive(SimpleObject)]
struct Boundary {
    /// Why it was drawn.
    reason: BoundaryReason,
    /// What the model gets instead of the turns before the line; null after a reset.
    summary: Option<String>,
    /// The last message that the line takes out of the context.
    through_message_id: Option<ID>,
}

/// One stored row of a thread. Rows never change once written.
#[Object(name = "Message")]
impl MessageObject {
    /// Opaque and globally unique; begins with `msg-`. Sorts by when the message was stored.
    async fn id(&self) -> ID {
        ID(self.0.id.to_string())
    }

    /// The thread it is in.
    async fn thread(&self, ctx: &Context<'_>) -> Field<ThreadObject> {
        Some(Session::of(ctx).thread(self.0.thread_id).await?.map(ThreadObject))
    }

    /// The turn that wrote the message; the messages of one turn share it. Null on a boundary.
    async fn turn_id(&self) -> Option<ID> {
        Some(ID(self.0.turn.as_ref()?.id.clone()))
    }

    /// Who said it.
    async fn role(&self) -> Role {
        self.0.role.into()
    }

    /// The stored content, exactly as it was written: text, tool references and attachments.
    async fn content(&self) -> JsonScalar {
        JsonScalar::Stored(self.0.content.clone())
    }

    /// The text of `content`, for screens that show nothing else; empty when there is none.
    async fn text(&self) -> String {
        self.0.content.text()
    }

    /// Tokens the message cost; null when the agent did not say.
    async fn tokens(&self) -> Option<i32> {
        self.0.tokens
    }

    /// True when the person stopped the turn while this message was being written.
    async fn stopped(&self) -> bool {
        self.0.stopped
    }

    /// Set when this row is a boundary rather than something that was said.
    async fn boundary(&self) -> Option<Boundary> {
        let boundary = self.0.boundary.as_ref()?;
        Some(Boundary {
            reason: match boundary.reason {
                model::BoundaryReason::Reset => BoundaryReason::Reset,
                model::BoundaryReason::Compaction { .. } => BoundaryReason::Compaction,
            },
            summary: boundary.summary().map(str::to_owned),
            through_message_id: boundary.through.map(|id| ID(id.to_string())),
        })
    }

    /// Whether the model is given this message now; false on a boundary.
    async fn in_context(&self) -> bool {
        self.0.in_context
    }

    /// When it was stored.
    async fn created_at(&self) -> Time {
        Time(self.0.created_at)
    }
}
