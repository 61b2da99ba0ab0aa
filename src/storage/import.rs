//! Storing turns of the past.

mod boundaries;
mod ids;

use std::collections::{BTreeMap, HashMap, HashSet};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use sea_orm::{
    ColumnTrait, DatabaseTransaction, DbErr, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Select, Set,
    prelude::Uuid, sea_query::OnConflict,
};

use super::{
    entity::{chat, message, turn},
    error::{self, Inconsistency},
    write::{self, Failure, Write},
};
use crate::chat::{
    clock::Clock,
    error::Error,
    id::MessageId,
    import::ImportedTurn,
    model::{Message, Outcome, Thread, ThreadKey},
    turn as body,
};

/// How many turn ids a lookup asks for at once.
const TURNS_A_LOOKUP: usize = 1000;

/// Checks turns of the past, and stores those that are not there yet.
pub struct Import {
    pub team_id: String,
    pub turns: Vec<ImportedTurn>,
    pub write: bool,
}

#[async_trait]
impl Write for Import {
    type Output = u64;

    async fn run(&self, db: &DatabaseTransaction, clock: &Clock) -> Result<u64, Failure> {
        // In one order, so that two imports cannot wait for each other's locks.
        let mut by_thread: BTreeMap<&ThreadKey, Vec<&ImportedTurn>> = BTreeMap::new();
        for turn in &self.turns {
            by_thread.entry(&turn.key).or_default().push(turn);
        }
        let mut new = 0;
        for (key, turns) in by_thread {
            new += self.import_thread(db, clock, key, turns).await?;
        }
        Ok(new)
    }
}

/// What the neighbours of a row need to know of it.
struct Outline {
    turn_id: Option<String>,
    created_at: DateTime<Utc>,
}

impl Import {
    async fn import_thread(
        &self,
        db: &DatabaseTransaction,
        clock: &Clock,
        key: &ThreadKey,
        turns: Vec<&ImportedTurn>,
    ) -> Result<u64, Failure> {
        let by_key = chat::Entity::by_key(&self.team_id, key);
        let existing = if self.write {
            let locked = write::lock(db, clock, by_key).await?;
            locked.map(|locked| locked.thread)
        } else {
            // Looked at again when it is written: nobody has to wait for a look.
            by_key.one(db).await?.map(Thread::from)
        };
        let turns = match &existing {
            Some(thread) => self.not_stored(db, thread, turns).await?,
            None => turns,
        };
        let Some(first) = turns.first() else { return Ok(0) };
        if existing.is_none() {
            self.check_thread_id(db, first).await?;
        }
        self.check_places(db, existing.as_ref(), &turns).await?;
        if let Some(thread) = &existing {
            boundaries::check(db, &self.team_id, thread, &turns).await?;
        }
        if !self.write {
            ids::check(db, &self.team_id, existing.as_ref(), &turns).await?;
            return Ok(turns.len() as u64);
        }
        let (mut thread, is_new) = match existing {
            Some(thread) => (thread, false),
            None => (new_thread(first)?, true),
        };
        let messages: Vec<Message> = turns
            .iter()
            .flat_map(|turn| &turn.messages)
            .map(|message| Message {
                thread_id: thread.id,
                ..message.clone()
            })
            .collect();
        thread.grow(&messages);
        if is_new {
            self.insert_thread(db, &thread).await?;
        } else {
            write::update_thread(db, &self.team_id, &thread).await?;
        }
        insert_turns(db, &thread, &turns).await?;
        match write::insert_messages(db, &self.team_id, &thread, &messages).await {
            Err(Failure::Database(error)) if error::is_taken(&error) => Err(conflict(
                first,
                "or one after it has the id of a message in another thread",
            )),
            stored => stored.map(|()| turns.len() as u64),
        }
    }

    /// Leaves out what is stored already.
    async fn not_stored<'a>(
        &self,
        db: &DatabaseTransaction,
        thread: &Thread,
        turns: Vec<&'a ImportedTurn>,
    ) -> Result<Vec<&'a ImportedTurn>, Failure> {
        let stored = stored_turns(db, thread, &turns).await?;
        let boundaries = turns
            .iter()
            .filter(|turn| turn.turn_id().is_none())
            .filter_map(|turn| turn.first_id());
        let drawn = self.outline(db, thread, boundaries.collect()).await?;
        let mut new = Vec::new();
        for turn in turns {
            let known = match turn.turn_id() {
                Some(id) => match stored.get(&turn::key(id)) {
                    Some(body) if *body != body_hash(turn) => {
                        return Err(conflict(turn, "is stored with another body"));
                    }
                    found => found.is_some(),
                },
                None => match turn.first_id().and_then(|id| drawn.get(&id)) {
                    Some(row) if row.turn_id.is_some() => {
                        return Err(conflict(turn, "has the id of another message"));
                    }
                    found => found.is_some(),
                },
            };
            if !known {
                new.push(turn);
            }
        }
        Ok(new)
    }

    /// Refuses a new thread whose id another thread of the team has. (One of another team is found when it is
    /// written, for nothing looks into another team.)
    async fn check_thread_id(&self, db: &DatabaseTransaction, turn: &ImportedTurn) -> Result<(), Failure> {
        let same_id = chat::Entity::by_ids(&self.team_id, &[turn.thread_id]);
        match same_id.one(db).await? {
            Some(_) => Err(conflict(
                turn,
                &format!("is of thread {}, whose id another thread has", turn.thread_id),
            )),
            None => Ok(()),
        }
    }

    /// Refuses what would part a turn or let time go back along the thread.
    async fn check_places(
        &self,
        db: &DatabaseTransaction,
        thread: Option<&Thread>,
        turns: &[&ImportedTurn],
    ) -> Result<(), Failure> {
        let mut rows = match (thread, turns.iter().filter_map(|turn| turn.first_id()).min()) {
            (Some(thread), Some(first)) => {
                let last = turns
                    .iter()
                    .filter_map(|turn| turn.last_id())
                    .max()
                    .unwrap_or(first);
                self.neighbourhood(db, thread, first, last).await?
            }
            _ => BTreeMap::new(),
        };
        let mut owner = HashMap::new();
        for turn in turns {
            for message in &turn.messages {
                let row = Outline {
                    turn_id: turn.turn_id().map(str::to_owned),
                    created_at: message.created_at,
                };
                if rows.insert(message.id, row).is_some() {
                    return Err(conflict(turn, "has the id of another message"));
                }
                owner.insert(message.id, *turn);
            }
        }
        check_order(&rows, &owner)
    }

    /// The outlines of a thread's messages from the one before `first` to the one after `last`.
    async fn neighbourhood(
        &self,
        db: &DatabaseTransaction,
        thread: &Thread,
        first: MessageId,
        last: MessageId,
    ) -> Result<BTreeMap<MessageId, Outline>, DbErr> {
        let all = || message::outline(message::Entity::of_thread(&self.team_id, thread));
        let id = message::Column::Id;
        let within = all().filter(id.between(first.0, last.0));
        let before = all()
            .filter(id.between(thread.first_message_id.0, first.0))
            .filter(id.ne(first.0))
            .order_by_desc(id)
            .limit(1);
        let after = all()
            .filter(id.between(last.0, thread.last_message_id.0))
            .filter(id.ne(last.0))
            .order_by_asc(id)
            .limit(1);
        let mut rows = BTreeMap::new();
        for select in [within, before, after] {
            rows.extend(outlines(db, select).await?);
        }
        Ok(rows)
    }

    async fn outline(
        &self,
        db: &DatabaseTransaction,
        thread: &Thread,
        ids: Vec<MessageId>,
    ) -> Result<BTreeMap<MessageId, Outline>, DbErr> {
        let mut found = BTreeMap::new();
        for ids in ids.chunks(TURNS_A_LOOKUP) {
            let these = message::Column::Id.is_in(ids.iter().map(|id| id.0));
            let select = message::Entity::of_thread(&self.team_id, thread).filter(these);
            found.extend(outlines(db, message::outline(select)).await?);
        }
        Ok(found)
    }

    async fn insert_thread(&self, db: &DatabaseTransaction, thread: &Thread) -> Result<(), Failure> {
        let inserted = chat::Entity::insert(chat::row(&self.team_id, thread))
            .on_conflict(OnConflict::new().do_nothing().to_owned())
            .exec_without_returning(db)
            .await?;
        if inserted == 1 {
            return Ok(());
        }
        Err(Error::Conflict(format!(
            "thread {} cannot be made: its id is another thread's, perhaps another team's, or its key was taken just now (then import again)",
            thread.id
        ))
        .into())
    }
}

fn new_thread(turn: &ImportedTurn) -> Result<Thread, Failure> {
    let first = turn
        .messages
        .first()
        .ok_or(Inconsistency("a turn without messages"))?;
    Ok(Thread {
        id: turn.thread_id,
        key: turn.key.clone(),
        created_at: turn.thread_created_at,
        last_message_at: first.created_at,
        message_count: 0,
        first_message_id: first.id,
        last_message_id: first.id,
        boundary_id: None,
        reset_id: None,
        context_after: None,
    })
}

async fn outlines(
    db: &DatabaseTransaction,
    select: Select<message::Entity>,
) -> Result<impl Iterator<Item = (MessageId, Outline)>, DbErr> {
    let rows: Vec<(Uuid, Option<String>, DateTime<Utc>)> = select.into_tuple().all(db).await?;
    Ok(rows
        .into_iter()
        .map(|(id, turn_id, created_at)| (MessageId(id), Outline { turn_id, created_at })))
}

/// The bodies of those turns that are stored, by their keys.
async fn stored_turns(
    db: &DatabaseTransaction,
    thread: &Thread,
    turns: &[&ImportedTurn],
) -> Result<HashMap<Uuid, Uuid>, DbErr> {
    let ids: Vec<_> = turns.iter().filter_map(|turn| turn.turn_id()).collect();
    let mut stored = HashMap::new();
    for ids in ids.chunks(TURNS_A_LOOKUP) {
        let rows = turn::Entity::of_thread(thread, ids.iter().copied())
            .all(db)
            .await?;
        stored.extend(rows.into_iter().map(|row| (row.turn_key, row.body_hash)));
    }
    Ok(stored)
}

async fn insert_turns(
    db: &DatabaseTransaction,
    thread: &Thread,
    turns: &[&ImportedTurn],
) -> Result<(), Failure> {
    for turns in turns.chunks(TURNS_A_LOOKUP) {
        let rows: Vec<_> = turns.iter().filter_map(|turn| turn_row(thread, turn)).collect();
        if !rows.is_empty() {
            turn::Entity::insert_many(rows).exec_without_returning(db).await?;
        }
    }
    Ok(())
}

/// The key of a turn; a boundary has none.
fn turn_row(thread: &Thread, turn: &ImportedTurn) -> Option<turn::ActiveModel> {
    Some(turn::ActiveModel {
        chat_id: Set(thread.id.0),
        turn_key: Set(turn::key(turn.turn_id()?)),
        body_hash: Set(body_hash(turn)),
        first_message_id: Set(turn.first_id()?.0),
        last_message_id: Set(turn.last_id()?.0),
    })
}

fn body_hash(turn: &ImportedTurn) -> Uuid {
    let outcome = turn
        .messages
        .first()
        .and_then(|message| message.turn.as_ref())
        .map(|turn| turn.outcome);
    let said = turn
        .messages
        .iter()
        .map(|message| (message.role, message.tokens, &message.content));
    Uuid::from_bytes(body::body_hash(outcome.unwrap_or(Outcome::Completed), said))
}

/// Walks along the rows: time does not go back, and no turn that was left is met again.
fn check_order(
    rows: &BTreeMap<MessageId, Outline>,
    owner: &HashMap<MessageId, &ImportedTurn>,
) -> Result<(), Failure> {
    let mut left = HashSet::new();
    let mut previous: Option<(&MessageId, &Outline)> = None;
    for (id, row) in rows {
        if let Some((previous_id, before)) = previous {
            // One of the two is new: what is stored was in order.
            let new = owner.get(id).or_else(|| owner.get(previous_id));
            if let Some(turn) = new.filter(|_| row.created_at < before.created_at) {
                return Err(conflict(turn, "would let createdAt go back along its thread"));
            }
            if row.turn_id != before.turn_id {
                left.extend(before.turn_id.as_deref());
            }
            if row.turn_id.as_deref().is_some_and(|turn| left.contains(turn)) {
                let turn = new.ok_or(Inconsistency("a stored turn is parted"))?;
                return Err(conflict(turn, "would part a turn, or be parted by one"));
            }
        }
        previous = Some((id, row));
    }
    Ok(())
}

fn conflict(turn: &ImportedTurn, what: &str) -> Failure {
    let name = turn
        .turn_id()
        .map_or_else(|| "a boundary".to_owned(), |id| format!("turn {id:?}"));
    let id = turn.first_id().map(|id| id.to_string()).unwrap_or_default();
    Error::Conflict(format!("{name} at {id} {what}")).into()
}
