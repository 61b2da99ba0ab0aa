//! `Thread` and its `Context`.

use async_graphql::{Context, Enum, ID, Object, SimpleObject};

use super::{
    agent::AgentObject,
    connection::{self, MessageConnection},
    error::Field,
    message::{MessageObject, Role},
    scalar::{JsonScalar, Time},
    session::Session,
};
use crate::chat::{context, cursor, gateway::MAX_CONTEXT, model::Thread, page::DEFAULT_LIMIT};

/// A thread.
pub struct ThreadObject(pub Thread);

/// Which messages of a thread to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "cursor::HistoryView")]
pub enum HistoryView {
    /// Everything a person can scroll to, boundaries included.
    Full,
    /// What the model is given: the messages that `Message.inContext` is true for.
    Context,
}

/// The one conversation of an agent with a person on a channel.
#[Object(name = "Thread")]
impl ThreadObject {
    /// Opaque and globally unique; begins with `chat-`.
    async fn id(&self) -> ID {
        ID(self.0.id.to_string())
    }

    /// The agent's side.
    async fn agent(&self) -> AgentObject {
        AgentObject(self.0.key.agent_id.clone())
    }

    /// Where the conversation takes place: `widget`, `telegram`, `api` or another lower-case name.
    async fn channel(&self) -> &str {
        &self.0.key.channel
    }

    /// The person on the other side, by the id the product knows them under.
    async fn person_id(&self) -> ID {
        ID(self.0.key.person_id.clone())
    }

    /// When the thread began.
    async fn created_at(&self) -> Time {
        Time(self.0.created_at)
    }

    /// When its newest message was stored.
    async fn last_message_at(&self) -> Option<Time> {
        Some(Time(self.0.last_message_at))
    }

    /// How many messages the thread holds, boundaries included.
    async fn message_count(&self) -> i32 {
        // GraphQL's Int ends there; so does nobody's patience.
        i32::try_from(self.0.message_count).unwrap_or(i32::MAX)
    }

    /// The newest boundary; null while there is none.
    async fn boundary(&self, ctx: &Context<'_>) -> Field<MessageObject> {
        Some(Session::of(ctx).boundary(&self.0).await?.map(MessageObject))
    }

    /// A page of the thread. `CONTEXT` reads only what the model is given.
    async fn messages(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Which messages.", default_with = "HistoryView::Full")] view: HistoryView,
        #[graphql(
            desc = "How many items at the most; above 200 it is read as 200.",
            default_with = "DEFAULT_LIMIT"
        )]
        limit: i32,
        #[graphql(desc = "`nextCursor` of a page: reads the one before it, further back in time.")]
        cursor: Option<String>,
    ) -> Field<MessageConnection> {
        let session = Session::of(ctx);
        let page = connection::page(limit, cursor);
        let range = session
            .gateway
            .page_of(&session.scope, &self.0, view.into(), &page);
        connection::messages(session.page(range).await)
    }

    /// What to give the model: the newest whole turns after the boundary that fit, oldest first.
    async fn context(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The most tokens that summary and messages may have together.")] max_tokens: Option<
            i32,
        >,
        #[graphql(
            desc = "The most messages; above 200 it is read as 200.",
            default_with = "MAX_CONTEXT"
        )]
        limit: i32,
    ) -> Field<ContextObject> {
        let session = Session::of(ctx);
        let budget = session
            .gateway
            .budget(max_tokens.map(i64::from), i64::from(limit));
        Some(session.context(&self.0, budget).await?.map(ContextObject::from))
    }
}

/// What the model is given.
#[derive(SimpleObject)]
#[graphql(name = "Context")]
struct ContextObject {
    /// The summary of the newest boundary; null after a reset or while there is no boundary.
    summary: Option<String>,
    /// Whole turns, oldest first. Every tool call has its result in it and every result its call.
    messages: Vec<ContextMessage>,
    /// The sum of `tokens` over `messages`; null when one of them has none.
    tokens: Option<i32>,
    /// True when older turns after the boundary were left out because they did not fit.
    truncated: bool,
    /// The boundary this was read under; pass it to `appendTurn`.
    boundary_id: Option<ID>,
}

/// A message as the model is given it: like the stored one of the same id, less the parts of tool calls without a
/// result and of results without a call.
#[derive(SimpleObject)]
struct ContextMessage {
    /// The stored message's id.
    id: ID,
    /// The turn that wrote it.
    turn_id: ID,
    /// Who said it.
    role: Role,
    /// What was said.
    content: JsonScalar,
    /// The text of `content`.
    text: String,
    /// Tokens it cost; null when the agent did not say.
    tokens: Option<i32>,
}

impl From<context::Context> for ContextObject {
    fn from(context: context::Context) -> Self {
        Self {
            summary: context.summary,
            messages: context.messages.into_iter().map(ContextMessage::from).collect(),
            tokens: context.tokens.map(|sum| i32::try_from(sum).unwrap_or(i32::MAX)),
            truncated: context.truncated,
            boundary_id: context.boundary_id.map(|id| ID(id.to_string())),
        }
    }
}

impl From<context::ContextMessage> for ContextMessage {
    fn from(message: context::ContextMessage) -> Self {
        Self {
            id: ID(message.id.to_string()),
            turn_id: ID(message.turn_id),
            role: message.role.into(),
            text: message.content.text(),
            content: JsonScalar::Stored(message.content),
            tokens: message.tokens,
        }
    }
}
