//! A sequence of steps through the gateway and the model at once.

use threadline::chat::cursor::HistoryView;
use threadline::chat::error::Error;
use threadline::chat::gateway::Gateway;
use threadline::chat::id::MessageId;
use threadline::chat::json::Json;
use threadline::chat::model::{BeganUnder, Message, Outcome, Role, Thread, ThreadKey};
use threadline::chat::page::{Page, PageRequest};
use threadline::chat::scope::Scope;
use threadline::chat::turn::{MessageDraft, TurnDraft};

use super::model::{self, Expected, Row, SUMMARY, What, tokens};
use super::step::{Began, Step, THREADS};

pub type Checked = Result<(), String>;

/// Fails the sequence, saying what was expected.
macro_rules! same {
    ($found:expr, $expected:expr, $what:expr) => {
        let (found, expected) = (&$found, &$expected);
        if found != expected {
            return Err(format!("{}: found {found:?}, expected {expected:?}", $what));
        }
    };
}
pub(super) use same;

pub struct Run {
    pub gateway: Gateway,
    pub scope: Scope,
    pub agent: String,
    pub threads: Vec<model::Thread>,
    pub walk: Option<Walk>,
}

/// A walk that was begun: what is left of the rows that were there then.
pub struct Walk {
    thread: Option<usize>,
    left: Vec<MessageId>,
    cursor: Option<String>,
}

impl Run {
    pub fn new(gateway: Gateway, agent: String) -> Self {
        Self {
            gateway,
            scope: Scope::local(),
            agent,
            threads: vec![model::Thread::default(); THREADS],
            walk: None,
        }
    }

    pub async fn take(&mut self, step: &Step) -> Checked {
        match step {
            Step::Append {
                thread,
                turn,
                messages,
                outcome,
                began,
            } => self.append(*thread, (*turn, *messages, *outcome), began).await,
            Step::Reset { thread } => self.reset(*thread).await,
            Step::Compact { thread, at } => self.compact(*thread, *at).await,
            Step::Open { thread, limit } => self.open(*thread, *limit).await,
            Step::Continue { limit } => self.go_on(*limit).await,
            Step::Context {
                thread,
                max_tokens,
                limit,
            } => self.context(*thread, *max_tokens, *limit).await,
        }
    }

    pub fn key(&self, thread: usize) -> ThreadKey {
        let channel = ["api", "widget", "widget"][thread].to_owned();
        ThreadKey::new(self.agent.clone(), channel, format!("person {thread}")).unwrap()
    }

    async fn thread(&self, thread: usize) -> Result<Option<Thread>, String> {
        let found = self.gateway.thread_by_key(&self.scope, &self.key(thread)).await;
        found.map_err(|error| format!("{error:?}"))
    }

    async fn append(
        &mut self,
        at: usize,
        (turn, messages, outcome): (u8, usize, Option<Outcome>),
        began: &Began,
    ) -> Checked {
        let thread = &self.threads[at];
        let boundaries: Vec<usize> = (0..thread.rows.len())
            .filter(|row| thread.rows[*row].turn().is_none())
            .collect();
        let (began, began_at) = match began {
            Began::Boundary(share) if !boundaries.is_empty() => {
                let row = boundaries[share_of(*share, boundaries.len())];
                (BeganUnder::Boundary(thread.rows[row].id), Some(row))
            }
            Began::NoBoundary => (BeganUnder::NoBoundary, None),
            _ => (BeganUnder::Now, Some(thread.rows.len())),
        };
        let draft = TurnDraft {
            key: self.key(at),
            turn_id: turn.to_string(),
            outcome,
            began,
            messages: (0..messages).map(|number| draft(turn, number)).collect(),
        };
        let expected = thread.append(turn, messages, outcome, began_at);
        let appended = match self.gateway.append_turn(&self.scope, draft).await {
            Ok(appended) => appended,
            Err(Error::Conflict(_)) if expected == Expected::Conflict => return Ok(()),
            Err(error) => return Err(format!("expected {expected:?}, got {error:?}")),
        };
        let ids: Vec<MessageId> = appended.messages.iter().map(|message| message.id).collect();
        match expected {
            Expected::Conflict => return Err("a conflict was answered".to_owned()),
            Expected::Nothing => {
                same!(ids, vec![], "messages of a failed turn");
            }
            Expected::Replay(stored) => {
                same!((appended.replayed, ids), (true, stored), "a replay");
            }
            Expected::Store { late } => {
                same!((appended.replayed, ids.len()), (false, messages), "a new turn");
                let outcome = outcome.expect("a failed turn stores nothing");
                let last_assistant = (0..messages).rfind(|number| role(*number) == Role::Assistant);
                for (number, id) in ids.into_iter().enumerate() {
                    let stopped = outcome == Outcome::Stopped && last_assistant == Some(number);
                    let what = What::Said {
                        turn,
                        outcome,
                        number,
                        stopped,
                        late,
                    };
                    self.push(at, id, what)?;
                }
            }
        }
        let rows = &self.threads[at].rows;
        same!(
            appended.thread.map_or(0, |thread| thread.message_count),
            rows.len() as i64,
            "messageCount"
        );
        Ok(())
    }

    fn push(&mut self, at: usize, id: MessageId, what: What) -> Checked {
        let rows = &mut self.threads[at].rows;
        if rows.last().is_some_and(|last| last.id >= id) {
            return Err(format!("{id} does not come after the newest row"));
        }
        rows.push(Row { id, what });
        Ok(())
    }

    async fn reset(&mut self, at: usize) -> Checked {
        let Some(thread) = self.thread(at).await? else {
            same!(
                self.threads[at].rows.len(),
                0,
                "rows of a thread that is not there"
            );
            return Ok(());
        };
        let drawn = self
            .gateway
            .reset_thread(&self.scope, thread.id)
            .await
            .map_err(|error| format!("{error:?}"))?;
        let newest = self.threads[at].rows.last().expect("a thread has a row");
        if newest.what == What::Reset {
            same!(
                (drawn.drawn, drawn.boundary.id),
                (false, newest.id),
                "a second reset"
            );
            return Ok(());
        }
        same!(drawn.drawn, true, "drawn");
        self.push(at, drawn.boundary.id, What::Reset)
    }

    async fn compact(&mut self, at: usize, share: f64) -> Checked {
        let Some(thread) = self.thread(at).await? else {
            return Ok(());
        };
        let rows = &self.threads[at].rows;
        let row = share_of(share, rows.len());
        let summary = SUMMARY.to_owned();
        match self
            .gateway
            .compact_thread(&self.scope, thread.id, summary, rows[row].id)
            .await
        {
            Ok(drawn) if self.threads[at].may_compact(row) => {
                self.push(at, drawn.boundary.id, What::Compaction(row))
            }
            Err(Error::Conflict(_)) if !self.threads[at].may_compact(row) => Ok(()),
            other => Err(format!("compaction through row {row} of {rows:?}: {other:?}")),
        }
    }

    async fn context(&self, at: usize, max_tokens: Option<i64>, limit: i64) -> Checked {
        let Some(thread) = self.thread(at).await? else {
            return Ok(());
        };
        let budget = self
            .gateway
            .budget(max_tokens, limit)
            .map_err(|error| format!("{error:?}"))?;
        let contexts = self.gateway.contexts(&self.scope, &[(thread, budget)]).await;
        let context = contexts.map_err(|error| format!("{error:?}"))?.remove(0);
        let limit = usize::try_from(limit.min(200)).unwrap();
        let ids: Vec<MessageId> = context.messages.iter().map(|message| message.id).collect();
        same!(
            (ids, context.truncated),
            self.threads[at].context(max_tokens, limit),
            "context"
        );
        let boundary = self.threads[at]
            .boundary()
            .map(|row| self.threads[at].rows[row].id);
        same!(context.boundary_id, boundary, "boundaryId");
        Ok(())
    }

    pub async fn open(&mut self, thread: Option<usize>, limit: i64) -> Checked {
        self.walk = Some(Walk {
            thread,
            left: self.ids(thread),
            cursor: None,
        });
        self.go_on(limit).await
    }

    /// The ids of a thread's rows, or of all rows, in order.
    fn ids(&self, thread: Option<usize>) -> Vec<MessageId> {
        let rows = |thread: usize| self.threads[thread].rows.iter().map(|row| row.id);
        match thread {
            Some(thread) => rows(thread).collect(),
            None => {
                let mut ids: Vec<MessageId> = (0..THREADS).flat_map(rows).collect();
                ids.sort_unstable();
                ids
            }
        }
    }

    pub async fn go_on(&mut self, limit: i64) -> Checked {
        let Some(mut walk) = self.walk.take() else {
            return Ok(());
        };
        let request = PageRequest {
            limit,
            cursor: walk.cursor.take(),
        };
        let page = match walk.thread {
            Some(thread) => self.page(thread, HistoryView::Full, request).await?,
            None => {
                let page = self
                    .gateway
                    .agent_messages(&self.scope, &self.agent, &request)
                    .await;
                page.map_err(|error| format!("{error:?}"))?
            }
        };
        let size = usize::try_from(limit.min(200)).unwrap().min(walk.left.len());
        let expected = walk.left.split_off(walk.left.len() - size);
        let ids: Vec<MessageId> = page.items.iter().map(|message| message.id).collect();
        same!(ids, expected, "a page");
        same!(page.has_more, !walk.left.is_empty(), "hasMore");
        same!(page.next_cursor.is_some(), page.has_more, "nextCursor");
        walk.cursor = page.next_cursor;
        self.walk = Some(walk).filter(|walk| !walk.left.is_empty());
        Ok(())
    }

    pub async fn page(
        &self,
        at: usize,
        view: HistoryView,
        page: PageRequest,
    ) -> Result<Page<Message>, String> {
        let Some(thread) = self.thread(at).await? else {
            return Ok(Page {
                items: Vec::new(),
                next_cursor: None,
                has_more: false,
            });
        };
        let range = self.gateway.page_of(&self.scope, &thread, view, &page);
        let range = range.map_err(|error| format!("{error:?}"))?;
        let pages = self.gateway.messages(&self.scope, vec![range]).await;
        Ok(pages.map_err(|error| format!("{error:?}"))?.remove(0))
    }
}

pub fn role(number: usize) -> Role {
    [Role::User, Role::Assistant, Role::Tool][number % 3]
}

pub fn text(turn: u8, number: usize) -> String {
    format!("message {number} of turn {turn}")
}

fn draft(turn: u8, number: usize) -> MessageDraft {
    let part = [
        ("type", "text".into()),
        ("text", text(turn, number).as_str().into()),
    ];
    let part = Json::Object(part.map(|(name, value)| (name.to_owned(), value)).into());
    MessageDraft {
        role: role(number),
        content: Json::Object(vec![("parts".to_owned(), Json::Array(vec![part]))]),
        tokens: Some(tokens(number)),
    }
}

/// The index at a share of a list that is not empty.
fn share_of(share: f64, length: usize) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share is from 0 to under 1"
    )]
    let index = (share * length as f64) as usize;
    index.min(length - 1)
}
