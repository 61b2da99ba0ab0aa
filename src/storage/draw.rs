//! Drawing a boundary.

use async_trait::async_trait;
use sea_orm::DatabaseTransaction;

use super::{
    entity::{chat, turn},
    error::Inconsistency,
    read,
    write::{self, Failure, Locked, Write},
};
use crate::chat::{
    clock::Clock,
    content::Content,
    error::Error,
    id::{MessageId, ThreadId},
    model::{Boundary, BoundaryReason, Message, Role, Thread},
    store::{Drawn, NewLine},
};

/// Draws a boundary at the end of a thread.
pub struct Draw {
    pub team_id: String,
    pub thread_id: ThreadId,
    pub line: NewLine,
}

#[async_trait]
impl Write for Draw {
    type Output = Drawn;

    async fn run(&self, db: &DatabaseTransaction, clock: &Clock) -> Result<Drawn, Failure> {
        let by_id = chat::Entity::by_ids(&self.team_id, &[self.thread_id]);
        let Locked { mut thread, now } = write::lock(db, clock, by_id)
            .await?
            .ok_or(Error::NotFound("the thread"))?;
        let boundary = match &self.line {
            NewLine::Reset if thread.reset_id == Some(thread.last_message_id) => {
                let newest = thread.last_message_id;
                let found = read::between(db, &self.team_id, &thread, newest..=newest)
                    .await?
                    .pop();
                let boundary = found.ok_or(Inconsistency("a thread's newest message is missing"))?;
                return Ok(Drawn {
                    thread,
                    boundary,
                    drawn: false,
                });
            }
            NewLine::Reset => Boundary {
                reason: BoundaryReason::Reset,
                through: Some(thread.last_message_id),
            },
            NewLine::Compaction { summary, through } => {
                self.check_through(db, &thread, *through).await?;
                let reason = BoundaryReason::Compaction {
                    summary: summary.clone(),
                };
                Boundary {
                    reason,
                    through: Some(*through),
                }
            }
        };
        let time = write::next_time(&thread, now);
        let message = Message {
            id: write::next_id(&thread, time),
            thread_id: thread.id,
            turn: None,
            role: Role::System,
            content: Content::empty(),
            tokens: None,
            stopped: false,
            late: false,
            boundary: Some(boundary),
            in_context: false,
            created_at: time,
        };
        let rows = [message];
        write::insert_messages(db, &self.team_id, &thread, &rows).await?;
        thread.grow(&rows);
        write::update_thread(db, &self.team_id, &thread).await?;
        let [boundary] = rows;
        Ok(Drawn {
            thread,
            boundary,
            drawn: true,
        })
    }
}

impl Draw {
    /// A compaction ends with the last message of a turn, after what the present boundary covers.
    async fn check_through(
        &self,
        db: &DatabaseTransaction,
        thread: &Thread,
        through: MessageId,
    ) -> Result<(), Failure> {
        let found = read::between(db, &self.team_id, thread, through..=through)
            .await?
            .pop();
        if let Some(message) = found
            && let Some(of) = &message.turn
            && thread.context_after.is_none_or(|after| through > after)
        {
            let turn = turn::Entity::of_thread(thread, [of.id.as_str()]).one(db).await?;
            if turn.is_some_and(|turn| turn.last_message_id == through.0) {
                return Ok(());
            }
        }
        Err(Error::Conflict(
            "throughMessageId is not the last message of a turn after the present boundary of this thread; read its context again".to_owned(),
        )
        .into())
    }
}
