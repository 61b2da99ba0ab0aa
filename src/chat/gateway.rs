//! The one door: whoever reads or writes chats does it here.

mod allowance;
mod contexts;
mod counted;
mod transfer;

use std::sync::Arc;

use tracing::instrument;

use super::{
    cursor::{CursorKeys, HistoryView, List, ThreadOrder},
    error::{Error, Result},
    id::{self, MessageId, ThreadId},
    model::{Message, Thread, ThreadKey},
    page::{Extent, Limit, Page, PageRequest},
    scope::Scope,
    store::{AgentRange, Appended, Drawn, MessageRange, NewLine, Store, ThreadRange, Walk},
    turn::{NewTurn, TurnDraft, WriteLimits},
};

use allowance::Allowance;
pub use contexts::MAX_CONTEXT;

/// How much a gateway reads and writes at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GatewayLimits {
    /// The most items of a page.
    pub page_items: u32,
    /// The most bytes of content of a page.
    pub page_bytes: usize,
    /// How large what is written may be.
    pub write: WriteLimits,
}

impl Default for GatewayLimits {
    fn default() -> Self {
        Self {
            page_items: 200,
            page_bytes: 8 << 20,
            write: WriteLimits {
                message_bytes: 256 << 10,
                turn_bytes: 2 << 20,
            },
        }
    }
}

/// Scope, then rows, then pages: the rules of reading and writing chats, each of them once.
#[derive(Clone)]
pub struct Gateway {
    store: Arc<dyn Store>,
    cursors: Arc<CursorKeys>,
    limits: GatewayLimits,
    /// What the request has left that this door was opened for; none for a door that is nobody's.
    allowance: Option<Arc<Allowance>>,
}

/// A page of an agent's threads, as asked for.
#[derive(Clone, Debug)]
pub struct ThreadsRequest {
    /// The agent.
    pub agent_id: String,
    /// Only this channel's.
    pub channel: Option<String>,
    /// Only this person's.
    pub person_id: Option<String>,
    /// What the list is ordered by.
    pub order: ThreadOrder,
    /// Which page.
    pub page: PageRequest,
}

impl Gateway {
    /// Opens the door to a store. Without `cursor_secrets` the store's own secret signs cursors.
    ///
    /// # Errors
    /// When the store's secret cannot be read or made.
    pub async fn open(
        store: Arc<dyn Store>,
        cursor_secrets: &[String],
        limits: GatewayLimits,
    ) -> Result<Self> {
        let cursors = if cursor_secrets.is_empty() {
            CursorKeys::new([store.cursor_secret().await?])
        } else {
            CursorKeys::new(cursor_secrets)
        };
        Ok(Self {
            store,
            cursors: Arc::new(cursors),
            limits,
            allowance: None,
        })
    }

    /// Fails unless the database can be read and written.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    #[instrument(skip_all)]
    pub async fn ready(&self) -> Result<()> {
        self.store.ready().await
    }

    /// Does what has to be done from time to time.
    ///
    /// # Errors
    /// When the database cannot do it now; trying again later is safe.
    pub async fn maintain(&self) -> Result<()> {
        self.store.maintain().await
    }

    /// A thread, if the viewer may see it.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn thread(&self, scope: &Scope, id: ThreadId) -> Result<Option<Thread>> {
        Ok(self.threads_by_id(scope, &[id]).await?.pop())
    }

    /// Those of these threads that the viewer may see, in any order.
    ///
    /// # Errors
    /// When the database fails.
    #[instrument(skip_all)]
    pub async fn threads_by_id(&self, scope: &Scope, ids: &[ThreadId]) -> Result<Vec<Thread>> {
        let mut threads = self.store.threads_by_id(scope.team_id(), ids).await?;
        threads.retain(|thread| scope.sees(thread));
        Ok(threads)
    }

    /// The thread of a key, if there is one and the viewer may see it.
    ///
    /// # Errors
    /// When the database fails.
    #[instrument(skip_all, fields(agent.id = key.agent_id))]
    pub async fn thread_by_key(&self, scope: &Scope, key: &ThreadKey) -> Result<Option<Thread>> {
        let _turn = self.in_turn().await;
        let thread = self.store.thread_by_key(scope.team_id(), key).await?;
        Ok(thread.filter(|thread| scope.sees(thread)))
    }

    /// A page of an agent's threads.
    ///
    /// # Errors
    /// [`Error::BadInput`], [`Error::InvalidCursor`], or when the database fails.
    #[instrument(skip_all, fields(agent.id = asked.agent_id))]
    pub async fn threads(&self, scope: &Scope, asked: ThreadsRequest) -> Result<Page<Thread>> {
        id::check_name("agent id", &asked.agent_id)?;
        asked.channel.as_deref().map_or(Ok(()), id::check_channel)?;
        asked
            .person_id
            .as_deref()
            .map_or(Ok(()), |person| id::check_name("personId", person))?;
        let list = List::Threads {
            agent_id: &asked.agent_id,
            channel: asked.channel.as_deref(),
            person_id: asked.person_id.as_deref(),
            order: asked.order,
        };
        let extent = self.extent(asked.page.limit)?;
        let before = self.position(scope, &list, asked.page.cursor.as_deref())?;
        let (Some(channel), Some(person_id)) = (
            narrow(scope.channel(), &asked.channel),
            narrow(scope.person_id(), &asked.person_id),
        ) else {
            return Ok(Page {
                items: Vec::new(),
                next_cursor: None,
                has_more: false,
            });
        };
        let range = ThreadRange {
            agent_id: asked.agent_id.clone(),
            channel,
            person_id,
            order: asked.order,
            before,
            extent,
        };
        let _turn = self.in_turn().await;
        let cut = self.store.threads(scope.team_id(), range).await?;
        counted::pages(1);
        Ok(cut.into_page(|oldest| {
            let position = match asked.order {
                ThreadOrder::Created => oldest.id.0,
                ThreadOrder::Activity => oldest.last_message_id.0,
            };
            self.cursors.seal(scope, &list, position)
        }))
    }

    /// A page of an agent's messages, over all its threads that the viewer may read.
    ///
    /// # Errors
    /// [`Error::BadInput`], [`Error::InvalidCursor`], or when the database fails.
    #[instrument(skip_all, fields(agent.id = agent_id))]
    pub async fn agent_messages(
        &self,
        scope: &Scope,
        agent_id: &str,
        page: &PageRequest,
    ) -> Result<Page<Message>> {
        id::check_name("agent id", agent_id)?;
        let list = List::AgentMessages { agent_id };
        let mut extent = self.extent(page.limit)?;
        let before = self
            .position(scope, &list, page.cursor.as_deref())?
            .map(MessageId);
        let _turn = self.in_turn().await;
        extent.max_bytes = extent.max_bytes.min(self.bytes_left()?);
        let range = AgentRange {
            agent_id: agent_id.to_owned(),
            channel: scope.channel().map(str::to_owned),
            person_id: scope.person_id().map(str::to_owned),
            before,
            extent,
        };
        let cut = self.store.agent_messages(scope.team_id(), range).await?;
        self.spend(std::slice::from_ref(&cut));
        counted::pages(1);
        Ok(cut.into_page(|oldest| self.cursors.seal(scope, &list, oldest.id.0)))
    }

    /// What to read for a page of a thread: the asked-for limit and cursor, checked.
    ///
    /// # Errors
    /// [`Error::BadInput`] or [`Error::InvalidCursor`].
    pub fn page_of(
        &self,
        scope: &Scope,
        thread: &Thread,
        view: HistoryView,
        page: &PageRequest,
    ) -> Result<MessageRange> {
        let list = List::Messages {
            thread_id: thread.id,
            view,
        };
        let extent = self.extent(page.limit)?;
        let before = self
            .position(scope, &list, page.cursor.as_deref())?
            .map(MessageId);
        Ok(MessageRange {
            thread: thread.clone(),
            view,
            walk: Walk::Back(before),
            extent,
        })
    }

    /// Pages of threads, one for each range and in their order, in a fixed number of statements.
    ///
    /// # Errors
    /// When the database fails.
    #[instrument(skip_all)]
    pub async fn messages(&self, scope: &Scope, mut ranges: Vec<MessageRange>) -> Result<Vec<Page<Message>>> {
        self.share_bytes(&mut ranges)?;
        let lists: Vec<_> = ranges
            .iter()
            .map(|range| List::Messages {
                thread_id: range.thread.id,
                view: range.view,
            })
            .collect();
        let cuts = self.store.messages(scope.team_id(), ranges).await?;
        self.spend(&cuts);
        counted::pages(cuts.len());
        let seal = |list: &List<'_>, oldest: &Message| self.cursors.seal(scope, list, oldest.id.0);
        Ok(cuts
            .into_iter()
            .zip(&lists)
            .map(|(cut, list)| cut.into_page(|oldest| seal(list, oldest)))
            .collect())
    }

    /// The newest boundary of each thread that has one, in any order, in a fixed number of statements.
    ///
    /// # Errors
    /// When the database fails.
    #[instrument(skip_all)]
    pub async fn boundaries(&self, scope: &Scope, threads: &[Thread]) -> Result<Vec<Message>> {
        let ids = threads
            .iter()
            .filter_map(|thread| Some((thread.clone(), thread.boundary_id?)))
            .collect();
        self.store.messages_by_id(scope.team_id(), ids).await
    }

    /// Stores a whole turn, or nothing.
    ///
    /// # Errors
    /// [`Error::BadInput`], [`Error::Conflict`], [`Error::Forbidden`], or when the database fails; then nothing was
    /// written.
    #[instrument(skip_all, fields(agent.id = draft.key.agent_id))]
    pub async fn append_turn(&self, scope: &Scope, draft: TurnDraft) -> Result<Appended> {
        let failed = draft.outcome.is_none();
        counted::turn(failed, self.append(scope, draft).await)
    }

    async fn append(&self, scope: &Scope, draft: TurnDraft) -> Result<Appended> {
        scope.require_writer()?;
        if !scope.sees_key(&draft.key) {
            return Err(Error::Forbidden("the viewer may not write to this thread"));
        }
        let turn = NewTurn::new(draft, self.limits.write)?;
        self.store.append(scope.team_id(), turn).await
    }

    /// Starts a thread over: draws a reset boundary, unless the thread already ends with one.
    ///
    /// # Errors
    /// [`Error::NotFound`], or when the database fails; then nothing was written.
    pub async fn reset_thread(&self, scope: &Scope, id: ThreadId) -> Result<Drawn> {
        self.draw(scope, id, NewLine::Reset).await
    }

    /// Replaces the older turns of a thread, as far as the model goes, by a summary.
    ///
    /// # Errors
    /// [`Error::Forbidden`], [`Error::BadInput`], [`Error::NotFound`], [`Error::Conflict`] when `through` is not the last message of a
    /// turn after the present boundary, or when the database fails; then nothing was written.
    pub async fn compact_thread(
        &self,
        scope: &Scope,
        id: ThreadId,
        summary: String,
        through: MessageId,
    ) -> Result<Drawn> {
        scope.require_writer()?;
        if summary.trim().is_empty() {
            return Err(Error::bad_input(
                "summary is what the model gets instead: it is not blank",
            ));
        }
        let max = self.limits.write.message_bytes;
        if summary.len() > max {
            return Err(Error::BadInput(format!(
                "summary is {} bytes, at most {max} are kept",
                summary.len()
            )));
        }
        self.draw(scope, id, NewLine::Compaction { summary, through })
            .await
    }

    #[instrument(skip_all, fields(thread.id = %id))]
    async fn draw(&self, scope: &Scope, id: ThreadId, line: NewLine) -> Result<Drawn> {
        // Asked for first, so that a thread the viewer may not see takes the same statements as none.
        self.thread(scope, id)
            .await?
            .ok_or(Error::NotFound("the thread"))?;
        let drawn = self.store.draw(scope.team_id(), id, line).await?;
        counted::boundary(&drawn);
        Ok(drawn)
    }

    /// Pages that are read together share the bytes of a few full ones, so that many pages of large messages cannot
    /// fill the memory; each still has at least one item, and says that there is more.
    fn share_bytes(&self, ranges: &mut [MessageRange]) -> Result<()> {
        let share = self.bytes_left()? / ranges.len().max(1);
        for range in ranges {
            range.extent.max_bytes = range.extent.max_bytes.min(share);
        }
        Ok(())
    }

    fn extent(&self, limit: i64) -> Result<Extent> {
        Ok(Extent {
            limit: Limit::new(limit, self.limits.page_items)?,
            max_bytes: self.limits.page_bytes,
        })
    }

    fn position(&self, scope: &Scope, list: &List<'_>, cursor: Option<&str>) -> Result<Option<uuid::Uuid>> {
        cursor
            .map(|cursor| self.cursors.open(scope, list, cursor))
            .transpose()
    }
}

/// What a filter comes to under a scope: `None` when the two exclude each other.
fn narrow(scope: Option<&str>, asked: &Option<String>) -> Option<Option<String>> {
    match (scope, asked) {
        (Some(only), Some(asked)) if only != asked => None,
        (Some(only), _) => Some(Some(only.to_owned())),
        (None, asked) => Some(asked.clone()),
    }
}
