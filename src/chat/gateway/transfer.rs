//! Whole histories, in and out.

use super::{Gateway, narrow};
use crate::chat::{
    cursor::HistoryView,
    error::{Error, Result},
    id::{MessageId, ThreadId},
    import::ImportedTurn,
    model::{Message, Thread},
    scope::Scope,
    store::{MessageRange, ThreadFilter, Walk},
};

impl Gateway {
    /// Checks turns of the past, and with `write` stores those that are not there yet. Says how many were new.
    ///
    /// # Errors
    /// [`Error::Conflict`] or [`Error::BadInput`] when one cannot be stored, or when the database fails.
    pub async fn import(&self, scope: &Scope, turns: Vec<ImportedTurn>, write: bool) -> Result<u64> {
        if !turns.iter().all(|turn| scope.sees_key(&turn.key)) {
            return Err(Error::Forbidden("the viewer may not write to this thread"));
        }
        self.store.import(scope.team_id(), turns, write).await
    }

    /// The next threads of the team that the viewer may see, oldest first, for an export; empty at the end.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn export_threads(
        &self,
        scope: &Scope,
        after: Option<ThreadId>,
        filter: &ThreadFilter,
    ) -> Result<Vec<Thread>> {
        let (Some(agent_id), Some(channel), Some(person_id)) = (
            narrow(scope.agent_id(), &filter.agent_id),
            narrow(scope.channel(), &filter.channel),
            narrow(scope.person_id(), &filter.person_id),
        ) else {
            return Ok(Vec::new());
        };
        let filter = ThreadFilter {
            agent_id,
            channel,
            person_id,
            thread_id: filter.thread_id,
        };
        self.store.threads_after(scope.team_id(), after, &filter).await
    }

    /// The next messages of a thread, oldest first, for an export, and whether there are more.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn export_messages(
        &self,
        scope: &Scope,
        thread: &Thread,
        after: Option<MessageId>,
    ) -> Result<(Vec<Message>, bool)> {
        let range = MessageRange {
            thread: thread.clone(),
            view: HistoryView::Full,
            walk: Walk::Forward(after),
            extent: self.extent(i64::MAX)?,
        };
        let mut cuts = self.store.messages(scope.team_id(), vec![range]).await?;
        Ok(cuts
            .pop()
            .map_or_else(|| (Vec::new(), false), |cut| cut.into_rows()))
    }
}
