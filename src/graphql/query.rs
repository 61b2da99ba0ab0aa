//! `Query` and `Viewer`.

use async_graphql::{Context, Enum, ID, Object};

use super::{
    agent::AgentObject,
    error::{Field, field, maybe},
    input::ThreadKeyInput,
    session::Session,
    thread::ThreadObject,
};
use crate::chat::{id, scope};

/// The root of reading.
pub struct Query;

/// Every list is read in pages; there is no way to ask for all of it.
#[Object]
impl Query {
    /// Whom this request speaks for.
    async fn viewer(&self) -> Viewer {
        Viewer
    }

    /// The chats of an agent, empty for one that never chatted; null when the viewer is narrowed to another.
    async fn agent(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The agent's id.")] id: ID,
    ) -> Field<AgentObject> {
        if !Session::of(ctx).scope.sees_agent(&id) {
            return None;
        }
        field(id::check_name("id", &id).map(|()| AgentObject(id.0)))
    }

    /// One thread; null when there is none or the viewer may not see it.
    async fn thread(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The thread's id.")] id: ID,
    ) -> Field<ThreadObject> {
        let session = Session::of(ctx);
        let found = async { session.gateway.thread(&session.scope, id.parse()?).await };
        maybe(found.await.map(as_object))
    }

    /// The one thread of a key; null when nothing was ever said there or the viewer may not see it.
    async fn thread_by_key(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The thread's key.")] key: ThreadKeyInput,
    ) -> Field<ThreadObject> {
        let session = Session::of(ctx);
        let found = async {
            session
                .gateway
                .thread_by_key(&session.scope, &key.into_key()?)
                .await
        };
        maybe(found.await.map(as_object))
    }
}

/// What a viewer may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "scope::ViewerRole")]
enum ViewerRole {
    /// One person: reads and resets the one thread that the token names.
    Widget,
    /// A member of the team: reads and resets any thread of the team.
    Dashboard,
    /// An agent's runtime: reads, appends, compacts and resets.
    Agent,
    /// Everything, erasure included.
    Admin,
}

/// Whom a request speaks for.
struct Viewer;

/// Whom the request speaks for, as its token says.
#[Object]
impl Viewer {
    /// The team whose chats can be seen.
    async fn team_id(&self, ctx: &Context<'_>) -> ID {
        ID(Session::of(ctx).scope.team_id().to_owned())
    }

    /// What the viewer may do.
    async fn role(&self, ctx: &Context<'_>) -> ViewerRole {
        Session::of(ctx).scope.role().into()
    }

    /// Set when only this agent's chats can be seen.
    async fn agent_id(&self, ctx: &Context<'_>) -> Option<ID> {
        Session::of(ctx).scope.agent_id().map(|id| ID(id.to_owned()))
    }

    /// Set when only this person's threads can be seen.
    async fn person_id(&self, ctx: &Context<'_>) -> Option<ID> {
        Session::of(ctx).scope.person_id().map(|id| ID(id.to_owned()))
    }

    /// The thread that the token names; null unless it names agent, channel and person, or before the first turn.
    async fn thread(&self, ctx: &Context<'_>) -> Field<ThreadObject> {
        let session = Session::of(ctx);
        let key = session.scope.thread_key()?;
        maybe(
            session
                .gateway
                .thread_by_key(&session.scope, &key)
                .await
                .map(as_object),
        )
    }
}

fn as_object(thread: Option<crate::chat::model::Thread>) -> Option<ThreadObject> {
    thread.map(ThreadObject)
}
