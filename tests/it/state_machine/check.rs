//! The look at everything that ends a sequence.

use threadline::chat::cursor::{HistoryView, ThreadOrder};
use threadline::chat::gateway::ThreadsRequest;
use threadline::chat::id::MessageId;
use threadline::chat::model::{Boundary, BoundaryReason, Message, ThreadKey};
use threadline::chat::page::PageRequest;

use super::model::{self, SUMMARY, What, tokens};
use super::run::{Checked, Run, role, same, text};
use super::step::THREADS;

impl Run {
    /// Reads every list whole and compares every row.
    pub async fn check_everything(&mut self) -> Checked {
        for at in 0..THREADS {
            let full = self.whole(at, HistoryView::Full).await?;
            let model = &self.threads[at];
            same!(full.len(), model.rows.len(), format!("rows of thread {at}"));
            for (row, message) in full.iter().enumerate() {
                check_row(model, row, message)?;
            }
            let context: Vec<MessageId> = self
                .whole(at, HistoryView::Context)
                .await?
                .iter()
                .map(|message| message.id)
                .collect();
            let expected: Vec<MessageId> = (0..model.rows.len())
                .filter(|row| model.in_context(*row))
                .map(|row| model.rows[row].id)
                .collect();
            same!(context, expected, format!("the view CONTEXT of thread {at}"));
        }
        self.open(None, 50).await?;
        while self.walk.is_some() {
            self.go_on(50).await?;
        }
        self.check_threads().await
    }

    async fn whole(&self, at: usize, view: HistoryView) -> Result<Vec<Message>, String> {
        let mut messages: Vec<Message> = Vec::new();
        let mut cursor = None;
        loop {
            let page = self.page(at, view, PageRequest { limit: 50, cursor }).await?;
            messages.splice(0..0, page.items);
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Ok(messages);
            }
        }
    }

    async fn check_threads(&self) -> Checked {
        let last = |at: &usize| self.threads[*at].rows.last().map(|row| row.id);
        let first = |at: &usize| self.threads[*at].rows.first().map(|row| row.id);
        for (order, channel) in [
            (ThreadOrder::Created, None),
            (ThreadOrder::Activity, None),
            (ThreadOrder::Created, Some("widget")),
            (ThreadOrder::Activity, Some("widget")),
        ] {
            let mut expected: Vec<usize> = (0..THREADS).filter(|at| last(at).is_some()).collect();
            expected.retain(|at| channel.is_none_or(|channel| self.key(*at).channel == channel));
            expected.sort_by_key(|at| {
                if order == ThreadOrder::Created {
                    first(at)
                } else {
                    last(at)
                }
            });
            let expected: Vec<ThreadKey> = expected.into_iter().map(|at| self.key(at)).collect();
            let mut found: Vec<ThreadKey> = Vec::new();
            let mut cursor = None;
            loop {
                let asked = ThreadsRequest {
                    agent_id: self.agent.clone(),
                    channel: channel.map(str::to_owned),
                    person_id: None,
                    order,
                    page: PageRequest { limit: 1, cursor },
                };
                let page = self
                    .gateway
                    .threads(&self.scope, asked)
                    .await
                    .map_err(|error| format!("{error:?}"))?;
                found.splice(0..0, page.items.into_iter().map(|thread| thread.key));
                cursor = page.next_cursor;
                if cursor.is_none() {
                    break;
                }
            }
            same!(found, expected, format!("threads by {order:?} on {channel:?}"));
        }
        Ok(())
    }
}

fn check_row(model: &model::Thread, at: usize, message: &Message) -> Checked {
    let row = &model.rows[at];
    same!(message.id, row.id, "id");
    same!(
        message.in_context,
        model.in_context(at),
        format!("inContext of row {at}")
    );
    let boundary = match row.what {
        What::Said {
            turn,
            outcome,
            number,
            stopped,
            late,
        } => {
            let of = message.turn.as_ref().map(|of| (of.id.clone(), of.outcome));
            same!(of, Some((turn.to_string(), outcome)), "turn");
            same!((message.stopped, message.late), (stopped, late), "marks");
            same!(
                (message.role, message.tokens),
                (role(number), Some(tokens(number))),
                "role and tokens"
            );
            same!(message.content.text(), text(turn, number), "text");
            None
        }
        What::Reset => Some(Boundary {
            reason: BoundaryReason::Reset,
            through: Some(model.rows[at - 1].id),
        }),
        What::Compaction(through) => Some(Boundary {
            reason: BoundaryReason::Compaction {
                summary: SUMMARY.to_owned(),
            },
            through: Some(model.rows[through].id),
        }),
    };
    same!(message.boundary, boundary, "boundary");
    Ok(())
}
