//! `Mutation`.

use async_graphql::{Context, Object, SimpleObject};

use super::{
    error::{Field, field},
    input::{AppendTurnInput, CompactThreadInput, ResetThreadInput},
    message::MessageObject,
    session::Session,
    thread::ThreadObject,
};
use crate::chat::store::{Appended, Drawn};

/// The root of writing.
pub struct Mutation;

/// Writes are whole: what is stored is all of it, or nothing.
#[Object]
impl Mutation {
    /// Stores a whole turn, or nothing. Safe to repeat: a turn id is stored once.
    async fn append_turn(&self, ctx: &Context<'_>, input: AppendTurnInput) -> Field<AppendTurnPayload> {
        let session = Session::of(ctx);
        let appended = async {
            session
                .gateway
                .append_turn(&session.scope, input.into_draft()?)
                .await
        };
        field(appended.await.map(AppendTurnPayload::from))
    }

    /// Starts a thread over: draws a boundary. People keep every earlier message; what the agent remembers about the
    /// person is not touched.
    async fn reset_thread(&self, ctx: &Context<'_>, input: ResetThreadInput) -> Field<ResetThreadPayload> {
        let session = Session::of(ctx);
        let drawn = async {
            session
                .gateway
                .reset_thread(&session.scope, input.thread_id.parse()?)
                .await
        };
        field(drawn.await.map(ResetThreadPayload::from))
    }

    /// Replaces the older turns of a thread, as far as the model goes, by a summary.
    async fn compact_thread(
        &self,
        ctx: &Context<'_>,
        input: CompactThreadInput,
    ) -> Field<CompactThreadPayload> {
        let session = Session::of(ctx);
        let CompactThreadInput {
            thread_id,
            summary,
            through_message_id,
        } = input;
        let drawn = async {
            let (id, through) = (thread_id.parse()?, through_message_id.parse()?);
            session
                .gateway
                .compact_thread(&session.scope, id, summary, through)
                .await
        };
        field(drawn.await.map(CompactThreadPayload::from))
    }
}

/// The payload of the `appendTurn` mutation.
#[derive(SimpleObject)]
struct AppendTurnPayload {
    /// The thread the turn is in; null after a failed turn on a thread that does not exist.
    thread: Option<ThreadObject>,
    /// The messages of the turn, as stored; empty after a failed turn.
    messages: Vec<MessageObject>,
    /// True when this turn had been stored before and nothing was written now.
    replayed: bool,
}

/// The payload of the `resetThread` mutation.
#[derive(SimpleObject)]
struct ResetThreadPayload {
    /// The thread.
    thread: Option<ThreadObject>,
    /// The boundary the thread now ends with.
    boundary: Option<MessageObject>,
    /// False when the thread already ended with a reset boundary, so no second one was drawn.
    drawn: bool,
}

/// The payload of the `compactThread` mutation.
#[derive(SimpleObject)]
struct CompactThreadPayload {
    /// The thread.
    thread: Option<ThreadObject>,
    /// The boundary that was drawn.
    boundary: MessageObject,
}

impl From<Appended> for AppendTurnPayload {
    fn from(appended: Appended) -> Self {
        Self {
            thread: appended.thread.map(ThreadObject),
            messages: appended.messages.into_iter().map(MessageObject).collect(),
            replayed: appended.replayed,
        }
    }
}

impl From<Drawn> for ResetThreadPayload {
    fn from(drawn: Drawn) -> Self {
        Self {
            thread: Some(ThreadObject(drawn.thread)),
            boundary: Some(MessageObject(drawn.boundary)),
            drawn: drawn.drawn,
        }
    }
}

impl From<Drawn> for CompactThreadPayload {
    fn from(drawn: Drawn) -> Self {
        Self {
            thread: Some(ThreadObject(drawn.thread)),
            boundary: MessageObject(drawn.boundary),
        }
    }
}
