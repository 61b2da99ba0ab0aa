//! What models are given.

use super::Gateway;
use crate::chat::{
    context::{self, Budget, Context, Line},
    cursor::HistoryView,
    error::{Error, Result},
    model::Thread,
    page::{Extent, Limit},
    scope::Scope,
    store::{MessageRange, Walk},
};

/// The most messages a context holds.
pub const MAX_CONTEXT: i32 = 200;

impl Gateway {
    /// What a context may hold, checked.
    ///
    /// # Errors
    /// [`Error::BadInput`].
    pub fn budget(&self, max_tokens: Option<i64>, limit: i64) -> Result<Budget> {
        if max_tokens.is_some_and(|max| max < 1) {
            return Err(Error::bad_input("maxTokens is at least 1"));
        }
        let limit = Limit::new(limit, MAX_CONTEXT.unsigned_abs())?;
        Ok(Budget {
            max_tokens,
            max_messages: limit.get() as usize,
        })
    }

    /// What the model is given of each thread, in the threads' order, in a fixed number of statements.
    ///
    /// # Errors
    /// When the database fails.
    #[tracing::instrument(skip_all)]
    pub async fn contexts(&self, scope: &Scope, asked: &[(Thread, Budget)]) -> Result<Vec<Context>> {
        let threads: Vec<_> = asked.iter().map(|(thread, _)| thread.clone()).collect();
        let boundaries = self.boundaries(scope, &threads).await?;
        let range = |(thread, budget): &(Thread, Budget)| {
            // One more than fits: that is how the oldest turn is known to be whole.
            let limit = i64::try_from(budget.max_messages)
                .unwrap_or(i64::MAX)
                .saturating_add(1);
            Ok(MessageRange {
                thread: thread.clone(),
                view: HistoryView::Context,
                walk: Walk::Back(None),
                extent: Extent {
                    limit: Limit::new(limit, u32::MAX)?,
                    max_bytes: self.limits.page_bytes,
                },
            })
        };
        let mut ranges = asked.iter().map(range).collect::<Result<Vec<_>>>()?;
        self.share_bytes(&mut ranges)?;
        let cuts = self.store.messages(scope.team_id(), ranges).await?;
        self.spend(&cuts);
        let contexts = asked.iter().zip(cuts).map(|((thread, budget), cut)| {
            let drawn = boundaries
                .iter()
                .find(|boundary| Some(boundary.id) == thread.boundary_id);
            let summary = drawn.and_then(|row| row.boundary.as_ref()?.summary().map(str::to_owned));
            let (rows, has_more) = cut.into_rows();
            context::fit(
                rows,
                !has_more,
                Line {
                    boundary_id: thread.boundary_id,
                    summary,
                },
                *budget,
            )
        });
        Ok(contexts.collect())
    }
}
