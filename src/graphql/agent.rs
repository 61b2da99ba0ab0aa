//! `Agent`.

use async_graphql::{Context, Enum, ID, Object};

use super::{
    connection::{self, MessageConnection, ThreadConnection},
    error::{Field, field},
    session::Session,
};
use crate::chat::{cursor, gateway::ThreadsRequest, page::DEFAULT_LIMIT};

/// An agent, by its id.
pub struct AgentObject(pub String);

/// What a list of threads is ordered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "cursor::ThreadOrder")]
pub enum ThreadOrder {
    /// By when the thread began.
    Created,
    /// By when its newest message was stored. A thread that gains a message while you page moves to the newest page.
    Activity,
}

/// An agent, as far as its chats go. Agents themselves are kept elsewhere.
#[Object(name = "Agent")]
impl AgentObject {
    /// The product's own id of the agent.
    async fn id(&self) -> ID {
        ID(self.0.clone())
    }

    /// A page of the agent's threads.
    async fn threads(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Only threads of this channel.")] channel: Option<String>,
        #[graphql(desc = "Only threads with this person.")] person_id: Option<ID>,
        #[graphql(desc = "What the list is ordered by.", default_with = "ThreadOrder::Created")]
        order_by: ThreadOrder,
        #[graphql(
            desc = "How many items at the most; above 200 it is read as 200.",
            default_with = "DEFAULT_LIMIT"
        )]
        limit: i32,
        #[graphql(desc = "`nextCursor` of a page: reads the one before it, further back in time.")]
        cursor: Option<String>,
    ) -> Field<ThreadConnection> {
        let session = Session::of(ctx);
        let asked = ThreadsRequest {
            agent_id: self.0.clone(),
            channel,
            person_id: person_id.map(|id| id.0),
            order: order_by.into(),
            page: connection::page(limit, cursor),
        };
        connection::threads(field(session.gateway.threads(&session.scope, asked).await))
    }

    /// A page of the agent's messages, over every thread the viewer may read.
    async fn messages(
        &self,
        ctx: &Context<'_>,
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
        let page = session
            .gateway
            .agent_messages(&session.scope, &self.0, &page)
            .await;
        connection::messages(field(page))
    }
}
