//! What every write has: a transaction, a clock, and three ways to fail.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, EntityTrait, FromQueryResult,
    QuerySelect, QueryTrait, Select, SqliteTransactionMode, Statement, TransactionOptions, TransactionTrait,
    sea_query::Expr,
};

use super::{
    entity::{chat, message},
    error::{self, Inconsistency},
};
use crate::chat::{
    clock::Clock,
    error::Error,
    id::{self, MessageId},
    model::{Message, Thread},
};

/// How many rows an INSERT has at the most: 14 columns each, and SQLite binds at most 32,766 values.
const ROWS_AN_INSERT: usize = 1000;

/// A unit of writing: all of it is committed, or nothing.
#[async_trait]
pub trait Write: Send + Sync + 'static {
    /// What the caller gets once it is committed.
    type Output: Send + 'static;

    /// Does the work; may be run again from the start when it failed.
    async fn run(&self, db: &DatabaseTransaction, clock: &Clock) -> Result<Self::Output, Failure>;
}

/// Why nothing was written.
#[derive(Debug)]
pub enum Failure {
    /// The caller asked for what cannot be done.
    Refused(Error),
    /// The database failed.
    Database(DbErr),
    /// The database failed, and the transaction could not be ended. After that sqlx may believe a connection to SQLite
    /// to be in a transaction that is over, or the other way round, and then reports commits that were none.
    Unended(DbErr),
    /// There is no partition for messages of these ids.
    NoPartition(Vec<MessageId>),
}

impl Failure {
    /// Whether the connection can be used again.
    pub fn leaves_a_sound_connection(&self) -> bool {
        match self {
            Self::Refused(_) | Self::NoPartition(_) => true,
            Self::Database(error) => !error::is_broken(error),
            Self::Unended(_) => false,
        }
    }
}

impl From<DbErr> for Failure {
    fn from(error: DbErr) -> Self {
        Self::Database(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl From<Inconsistency> for Failure {
    fn from(found: Inconsistency) -> Self {
        Self::Refused(found.into())
    }
}

/// Begins a transaction that may write.
pub async fn begin(db: &DatabaseConnection) -> Result<DatabaseTransaction, DbErr> {
    // A deferred transaction that turns to writing fails at once when another writes, whatever the timeout.
    let options = TransactionOptions {
        sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
        ..TransactionOptions::default()
    };
    db.begin_with_options(options).await
}

/// Makes what was written last.
pub async fn commit(transaction: DatabaseTransaction) -> Result<(), Failure> {
    transaction.commit().await.map_err(Failure::Unended)
}

/// Undoes what was written before this failure.
pub async fn undo(transaction: DatabaseTransaction, failure: Failure) -> Failure {
    match (transaction.rollback().await, failure) {
        (Ok(()), failure) => failure,
        // SQLite has ended it already, or the connection is gone: nothing stays of it either way.
        (Err(_), Failure::Database(error)) => Failure::Unended(error),
        (Err(error), _) => Failure::Unended(error),
    }
}

/// A thread that no one else can write to until the transaction ends, and the time at which it became so.
pub struct Locked {
    pub thread: Thread,
    pub now: DateTime<Utc>,
}

/// Finds a thread and takes its lock. SQLite's transaction has locked the whole database already.
pub async fn lock(
    db: &DatabaseTransaction,
    clock: &Clock,
    mut select: Select<chat::Entity>,
) -> Result<Option<Locked>, DbErr> {
    if db.get_database_backend() != DbBackend::Postgres {
        let row = select.one(db).await?;
        return Ok(row.map(|row| Locked {
            thread: row.into(),
            now: clock.now(),
        }));
    }
    // The database's clock, so that replicas whose clocks differ agree.
    QueryTrait::query(&mut select).expr_as(Expr::cust("clock_timestamp()"), "now");
    let statement = select.lock_exclusive().build(DbBackend::Postgres);
    let Some(row) = db.query_one_raw(statement).await? else {
        return Ok(None);
    };
    let thread = chat::Model::from_query_result(&row, "")?.into();
    Ok(Some(Locked {
        thread,
        now: clock.adjust(row.try_get("", "now")?),
    }))
}

/// The time in a transaction that has locked nothing yet.
pub async fn now(db: &DatabaseTransaction, clock: &Clock) -> Result<DateTime<Utc>, DbErr> {
    if db.get_database_backend() != DbBackend::Postgres {
        return Ok(clock.now());
    }
    let query = Statement::from_string(DbBackend::Postgres, "SELECT clock_timestamp() AS now");
    let row = db
        .query_one_raw(query)
        .await?
        .ok_or(DbErr::RecordNotFound("the time".to_owned()))?;
    Ok(clock.adjust(row.try_get("", "now")?))
}

/// When a thread's next message is stored: now, or when its newest was, should the clock have gone back.
#[must_use]
pub fn next_time(thread: &Thread, now: DateTime<Utc>) -> DateTime<Utc> {
    now.max(thread.last_message_at)
}

/// The id of a thread's next message: by its time, and after the newest whatever the time.
#[must_use]
pub fn next_id(thread: &Thread, time: DateTime<Utc>) -> MessageId {
    MessageId(id::at(time, rand::random()).max(id::next(thread.last_message_id.0)))
}

/// Stores messages of a thread.
pub async fn insert_messages(
    db: &DatabaseTransaction,
    team_id: &str,
    thread: &Thread,
    messages: &[Message],
) -> Result<(), Failure> {
    let agent_key = chat::agent_key(team_id, &thread.key.agent_id);
    for chunk in messages.chunks(ROWS_AN_INSERT) {
        let rows = chunk.iter().map(|message| message::row(agent_key, message));
        message::Entity::insert_many(rows)
            .exec_without_returning(db)
            .await
            .map_err(|error| {
                if error::is_without_partition(&error) {
                    Failure::NoPartition(messages.iter().map(|message| message.id).collect())
                } else {
                    Failure::Database(error)
                }
            })?;
    }
    Ok(())
}

/// Writes what changed about a thread, which this transaction has locked.
pub async fn update_thread(db: &DatabaseTransaction, team_id: &str, thread: &Thread) -> Result<(), Failure> {
    let updated = chat::Entity::update_of(team_id, thread).exec(db).await?;
    if updated.rows_affected == 1 {
        Ok(())
    } else {
        Err(Inconsistency("a locked thread is gone").into())
    }
}
