//! From a URL to connections.

use std::{sync::Arc, time::Duration};

use sea_orm::{
    ConnectOptions, DbBackend, DbErr,
    sqlx::sqlite::{SqliteJournalMode, SqliteSynchronous},
};
use tokio::time::Instant;

use super::{admission::Admission, error, pool::Pool};

/// A connection that was used a moment ago is taken to be alive; pinging each time would double a read's round trips.
const IDLE_BEFORE_PING: Duration = Duration::from_secs(1);

/// From when on a statement is told to be slow.
const SLOW: Duration = Duration::from_secs(1);

/// How much later than PostgreSQL's own statement timeout an answer may come: what the network takes. PostgreSQL's
/// timeouts say nothing to a client that it cannot reach.
const ON_THE_WAY: Duration = Duration::from_secs(2);

/// How long to wait before a file that is in use is tried again.
const BETWEEN_TRIES: Duration = Duration::from_millis(20);

/// Where the rows are and how patient to be.
#[derive(Clone, Debug)]
pub struct DatabaseSettings {
    /// `postgres://…` or `sqlite://…`.
    pub url: String,
    /// PostgreSQL: the schema that the tables live in.
    pub schema: String,
    /// The most connections at once.
    pub max_connections: u32,
    /// How long to wait for a free connection.
    pub acquire_timeout: Duration,
    /// How long a statement may take.
    pub statement_timeout: Duration,
    /// How long to wait for a lock.
    pub lock_timeout: Duration,
    /// How long a transaction may do nothing.
    pub idle_in_transaction_timeout: Duration,
}

/// One pool that writes and one that reads; the same one on PostgreSQL.
pub struct Pools {
    pub write: Arc<Pool>,
    pub read: Arc<Pool>,
}

/// Opens the pools of a database.
pub async fn connect(settings: &DatabaseSettings) -> Result<Pools, DbErr> {
    let mut options = ConnectOptions::new(&settings.url);
    options
        .max_connections(settings.max_connections)
        .acquire_timeout(settings.acquire_timeout)
        .connect_timeout(settings.acquire_timeout)
        .test_before_acquire_if_idle_for(IDLE_BEFORE_PING)
        // The text of each statement, never what is bound to it.
        .sqlx_logging_level(log::LevelFilter::Debug)
        // A statement of a thousand values is a page of text: a slow one is not worth that unless it is asked for.
        .sqlx_slow_statements_logging_settings(log::LevelFilter::Debug, SLOW);
    if DbBackend::Postgres.is_prefix_of(&settings.url) {
        return postgres(options, settings).await;
    }
    if DbBackend::Sqlite.is_prefix_of(&settings.url) && !settings.url.contains(":memory:") {
        return sqlite(options, settings).await;
    }
    Err(DbErr::Conn(sea_orm::RuntimeErr::Internal(
        "database.url must begin with postgres:// or name a SQLite file, e.g. sqlite://threadline.db?mode=rwc".to_owned(),
    )))
}

async fn postgres(mut options: ConnectOptions, settings: &DatabaseSettings) -> Result<Pools, DbErr> {
    let millis = |time: Duration| time.as_millis().to_string();
    // The server keeps these promises even when this process hangs.
    let session = [
        ("search_path", settings.schema.clone()),
        ("statement_timeout", millis(settings.statement_timeout)),
        ("lock_timeout", millis(settings.lock_timeout)),
        (
            "idle_in_transaction_session_timeout",
            millis(settings.idle_in_transaction_timeout),
        ),
        // Every statement has the one index that it is meant for, so its plan is made once. Left to itself PostgreSQL
        // plans each page anew, which takes longer than reading it: it takes a bound LIMIT for a tenth of the rows,
        // and so the kept plan for dear, and worth compiling.
        ("plan_cache_mode", "force_generic_plan".to_owned()),
        ("jit", "off".to_owned()),
        // A plan that was made while a table was small must be right when it has grown.
        ("enable_seqscan", "off".to_owned()),
    ];
    options.map_sqlx_postgres_opts(move |options| {
        options.application_name("threadline").options(session.clone())
    });
    let connections = settings.max_connections;
    let admission = Admission::new(connections, connections, settings.acquire_timeout);
    let silence = settings.statement_timeout.saturating_add(ON_THE_WAY);
    let pool = Arc::new(Pool::open(options, admission, Some(silence)).await?);
    Ok(Pools {
        write: Arc::clone(&pool),
        read: pool,
    })
}

async fn sqlite(mut options: ConnectOptions, settings: &DatabaseSettings) -> Result<Pools, DbErr> {
    let lock_timeout = settings.lock_timeout;
    options.map_sqlx_sqlite_opts(move |options| {
        // FULL: in WAL mode, NORMAL may lose the last commits when the power goes.
        options
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(lock_timeout)
            .foreign_keys(true)
    });
    let mut readers = options.clone();
    options.max_connections(1);
    let admission =
        |connections| Admission::new(connections, settings.max_connections, settings.acquire_timeout);
    let began = Instant::now();
    // To make a file one of WAL, or to recover one whose writer was killed, SQLite needs it for itself and does not wait
    // for that: processes that start together would keep each other out.
    let write = loop {
        match Pool::open(options.clone(), admission(1), None).await {
            Err(error) if error::is_busy(&error) && began.elapsed() < settings.acquire_timeout => {
                tokio::time::sleep(BETWEEN_TRIES).await;
            }
            opened => break opened?,
        }
    };
    readers.map_sqlx_sqlite_opts(move |options| {
        options
            .busy_timeout(lock_timeout)
            .foreign_keys(true)
            .pragma("query_only", "on")
    });
    let read = Pool::open(readers, admission(settings.max_connections), None).await?;
    Ok(Pools {
        write: Arc::new(write),
        read: Arc::new(read),
    })
}
