//! What every resolver of a request works with.

use std::collections::HashMap;

use async_graphql::Context;

use super::{
    batch::Batch,
    error::{self, Field},
};
use crate::chat::{
    context::{self, Budget},
    error::Result,
    gateway::Gateway,
    id::ThreadId,
    model::{Message, Thread},
    page::Page,
    scope::Scope,
    store::MessageRange,
};

/// One request's view of the gateway: whom it speaks for, and the loads its lists share.
pub struct Session {
    /// The one door.
    pub gateway: Gateway,
    /// Whom the request speaks for.
    pub scope: Scope,
    pages: Batch<MessageRange, Page<Message>>,
    boundaries: Batch<Thread, Option<Message>>,
    contexts: Batch<(Thread, Budget), context::Context>,
    threads: Batch<ThreadId, Option<Thread>>,
}

impl Session {
    /// A session of a request.
    #[must_use]
    pub fn new(gateway: Gateway, scope: Scope) -> Self {
        Self {
            gateway,
            scope,
            pages: Batch::default(),
            boundaries: Batch::default(),
            contexts: Batch::default(),
            threads: Batch::default(),
        }
    }

    /// The session of the request that is being resolved.
    pub fn of<'a>(ctx: &Context<'a>) -> &'a Self {
        ctx.data_unchecked::<Self>()
    }

    /// A page of a thread.
    pub async fn page(&self, range: Result<MessageRange>) -> Field<Page<Message>> {
        let range = match range {
            Ok(range) => range,
            Err(error) => return error::field(Err(error)),
        };
        let load = |ranges| self.gateway.messages(&self.scope, ranges);
        shared(self.pages.load(range, load).await)
    }

    /// A thread's newest boundary.
    pub async fn boundary(&self, thread: &Thread) -> Field<Message> {
        thread.boundary_id?;
        let load = async |threads: Vec<Thread>| {
            let found = self.gateway.boundaries(&self.scope, &threads).await?;
            let by_id: HashMap<_, _> = found.into_iter().map(|row| (row.id, row)).collect();
            // One thread may be asked for its boundary several times, under several names.
            Ok(threads
                .iter()
                .map(|thread| by_id.get(&thread.boundary_id?).cloned())
                .collect())
        };
        shared(self.boundaries.load(thread.clone(), load).await)?.transpose()
    }

    /// What the model is given of a thread.
    pub async fn context(&self, thread: &Thread, budget: Result<Budget>) -> Field<context::Context> {
        let budget = match budget {
            Ok(budget) => budget,
            Err(error) => return error::field(Err(error)),
        };
        let load = async |asked: Vec<_>| self.gateway.contexts(&self.scope, &asked).await;
        shared(self.contexts.load((thread.clone(), budget), load).await)
    }

    /// A thread by its id.
    pub async fn thread(&self, id: ThreadId) -> Field<Thread> {
        let load = async |ids: Vec<ThreadId>| {
            let found = self.gateway.threads_by_id(&self.scope, &distinct(&ids)).await?;
            let by_id: HashMap<_, _> = found.into_iter().map(|thread| (thread.id, thread)).collect();
            Ok(ids.iter().map(|id| by_id.get(id).cloned()).collect())
        };
        shared(self.threads.load(id, load).await)?.transpose()
    }
}

fn distinct(ids: &[ThreadId]) -> Vec<ThreadId> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids.dedup();
    ids
}

fn shared<T>(result: Result<T, std::sync::Arc<crate::chat::error::Error>>) -> Field<T> {
    Some(result.map_err(|error| error::to_graphql(&error)))
}
