//! Storing a turn.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use sea_orm::{DatabaseTransaction, EntityTrait, Set, prelude::Uuid, sea_query::OnConflict};

use super::{
    entity::{chat, turn},
    error::Inconsistency,
    read,
    write::{self, Failure, Locked, Write},
};
use crate::chat::{
    clock::Clock,
    error::Error,
    id::{self, MessageId, ThreadId},
    model::{BeganUnder, Message, Outcome, Thread, TurnRef},
    store::Appended,
    turn::NewTurn,
};

/// Stores a whole turn, or nothing.
pub struct Append {
    pub team_id: String,
    pub turn: NewTurn,
}

#[async_trait]
impl Write for Append {
    type Output = Appended;

    async fn run(&self, db: &DatabaseTransaction, clock: &Clock) -> Result<Appended, Failure> {
        let by_key = || chat::Entity::by_key(&self.team_id, &self.turn.key);
        let locked = match write::lock(db, clock, by_key()).await? {
            Some(locked) => locked,
            None => {
                self.check_began_in_new()?;
                let Some(outcome) = self.turn.outcome else {
                    return Ok(Appended {
                        thread: None,
                        messages: Vec::new(),
                        replayed: false,
                    });
                };
                if let Some(appended) = self.begin_thread(db, clock, outcome).await? {
                    return Ok(appended);
                }
                // Somebody else's first turn won, and was waited for by the attempt to insert.
                let winner = write::lock(db, clock, by_key()).await?;
                winner.ok_or(Inconsistency("a thread that won a race is gone"))?
            }
        };
        match self.turn.outcome {
            Some(outcome) => self.append(db, locked, outcome).await,
            None => self.fail(db, locked.thread).await,
        }
    }
}

impl Append {
    /// Makes the thread with its first turn. None when the key has a thread by now.
    async fn begin_thread(
        &self,
        db: &DatabaseTransaction,
        clock: &Clock,
        outcome: Outcome,
    ) -> Result<Option<Appended>, Failure> {
        let now = write::now(db, clock).await?;
        let first = MessageId(id::at(now, rand::random()));
        let mut thread = Thread {
            id: ThreadId(id::at(now, rand::random())),
            key: self.turn.key.clone(),
            created_at: now,
            last_message_at: now,
            message_count: 0,
            first_message_id: first,
            last_message_id: first,
            boundary_id: None,
            reset_id: None,
            context_after: None,
        };
        let messages = self.messages(&thread, first, now, outcome);
        thread.grow(&messages);
        let key = [
            chat::Column::TeamId,
            chat::Column::AgentId,
            chat::Column::Channel,
            chat::Column::PersonId,
        ];
        let inserted = chat::Entity::insert(chat::row(&self.team_id, &thread))
            .on_conflict(OnConflict::columns(key).do_nothing().to_owned())
            .exec_without_returning(db)
            .await?;
        if inserted == 0 {
            return Ok(None);
        }
        self.insert_turn(db, &thread, &messages).await?;
        write::insert_messages(db, &self.team_id, &thread, &messages).await?;
        Ok(Some(Appended {
            thread: Some(thread),
            messages,
            replayed: false,
        }))
    }

    async fn append(
        &self,
        db: &DatabaseTransaction,
        Locked { mut thread, now }: Locked,
        outcome: Outcome,
    ) -> Result<Appended, Failure> {
        let time = write::next_time(&thread, now);
        let messages = self.messages(&thread, write::next_id(&thread, time), time, outcome);
        if !self.insert_turn(db, &thread, &messages).await? {
            return self.replay(db, thread).await;
        }
        self.check_began(db, &thread).await?;
        write::insert_messages(db, &self.team_id, &thread, &messages).await?;
        thread.grow(&messages);
        write::update_thread(db, &self.team_id, &thread).await?;
        Ok(Appended {
            thread: Some(thread),
            messages,
            replayed: false,
        })
    }

    /// A failed turn: nothing is stored, and it must not be one that was.
    async fn fail(&self, db: &DatabaseTransaction, thread: Thread) -> Result<Appended, Failure> {
        let stored = turn::Entity::of_thread(&thread, [self.turn.turn_id.as_str()])
            .one(db)
            .await?;
        if stored.is_some() {
            return Err(self.conflict("this turn is stored already, so it did not fail"));
        }
        self.check_began(db, &thread).await?;
        Ok(Appended {
            thread: Some(thread),
            messages: Vec::new(),
            replayed: false,
        })
    }

    /// Answers with the stored turn, if this is the same one.
    async fn replay(&self, db: &DatabaseTransaction, thread: Thread) -> Result<Appended, Failure> {
        let stored = turn::Entity::of_thread(&thread, [self.turn.turn_id.as_str()])
            .one(db)
            .await?;
        let stored = stored.ok_or(Inconsistency("a turn key is there and is not"))?;
        if stored.body_hash.into_bytes() != self.turn.body_hash() {
            return Err(self.conflict("this turn id was used for another turn; use a new one"));
        }
        let ids = MessageId(stored.first_message_id)..=MessageId(stored.last_message_id);
        let messages = read::between(db, &self.team_id, &thread, ids).await?;
        Ok(Appended {
            thread: Some(thread),
            messages,
            replayed: true,
        })
    }

    /// Claims the turn id. False when it is stored already.
    async fn insert_turn(
        &self,
        db: &DatabaseTransaction,
        thread: &Thread,
        messages: &[Message],
    ) -> Result<bool, Failure> {
        let (Some(first), Some(last)) = (messages.first(), messages.last()) else {
            return Err(Inconsistency("a turn without messages").into());
        };
        let row = turn::ActiveModel {
            chat_id: Set(thread.id.0),
            turn_key: Set(turn::key(&self.turn.turn_id)),
            body_hash: Set(Uuid::from_bytes(self.turn.body_hash())),
            first_message_id: Set(first.id.0),
            last_message_id: Set(last.id.0),
        };
        let unless_there = OnConflict::columns([turn::Column::ChatId, turn::Column::TurnKey])
            .do_nothing()
            .to_owned();
        Ok(turn::Entity::insert(row)
            .on_conflict(unless_there)
            .exec_without_returning(db)
            .await?
            == 1)
    }

    /// The rows of the turn, from an id on.
    fn messages(
        &self,
        thread: &Thread,
        first: MessageId,
        time: DateTime<Utc>,
        outcome: Outcome,
    ) -> Vec<Message> {
        let late = thread.is_late(self.turn.began);
        let ids = std::iter::successors(Some(first), |id| Some(MessageId(id::next(id.0))));
        let rows = self.turn.messages.iter().zip(ids).map(|(message, id)| Message {
            id,
            thread_id: thread.id,
            turn: Some(TurnRef {
                id: self.turn.turn_id.clone(),
                outcome,
            }),
            role: message.role,
            content: message.content.clone(),
            tokens: message.tokens,
            stopped: message.stopped,
            late,
            boundary: None,
            in_context: !late,
            created_at: time,
        });
        rows.collect()
    }

    /// Refuses a boundary that the thread does not have.
    async fn check_began(&self, db: &DatabaseTransaction, thread: &Thread) -> Result<(), Failure> {
        let BeganUnder::Boundary(id) = self.turn.began else {
            return Ok(());
        };
        if Some(id) == thread.boundary_id || Some(id) == thread.reset_id {
            return Ok(());
        }
        let found = read::between(db, &self.team_id, thread, id..=id).await?;
        if found.iter().any(|message| message.boundary.is_some()) {
            return Ok(());
        }
        Err(unknown_boundary().into())
    }

    fn check_began_in_new(&self) -> Result<(), Error> {
        match self.turn.began {
            BeganUnder::Boundary(_) => Err(unknown_boundary()),
            BeganUnder::Now | BeganUnder::NoBoundary => Ok(()),
        }
    }

    fn conflict(&self, what: &str) -> Failure {
        Error::Conflict(format!("turn {:?}: {what}", self.turn.turn_id)).into()
    }
}

fn unknown_boundary() -> Error {
    Error::bad_input("boundaryId is not a boundary of this thread; pass Context.boundaryId, null or nothing")
}
