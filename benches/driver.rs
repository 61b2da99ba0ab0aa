//! The floor under the pages of SQLite: the server's own statements, straight through the driver, over and over.
//!
//! `driver URL THREAD_ID STATEMENTS_FILE CONNECTIONS SECONDS` prints pages a second. The file has the statements
//! that the server ran for one page, one a line, as its debug log shows them.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use futures::{TryStreamExt, future::try_join_all};
use sea_orm::{
    prelude::Uuid,
    sqlx::{
        AssertSqlSafe, Row, SqlitePool,
        sqlite::{SqliteConnectOptions, SqlitePoolOptions},
    },
};

/// What a page of 50 reads.
const LIMIT: i64 = 51;

/// A value that a statement binds.
#[derive(Clone)]
enum Bound {
    Id(Uuid),
    Text(String),
    Number(i64),
}

/// A statement with its values.
#[derive(Clone)]
struct Bind {
    sql: String,
    values: Vec<Bound>,
}

fn main() -> Result<()> {
    let args: Vec<_> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let [url, thread, file, connections, seconds] = args.as_slice() else {
        // `cargo bench` runs every bench; this one is benches/run's.
        eprintln!("usage: driver URL THREAD_ID STATEMENTS_FILE CONNECTIONS SECONDS");
        return Ok(());
    };
    let connections = connections.parse().context("CONNECTIONS")?;
    let time = Duration::from_secs(seconds.parse().context("SECONDS")?);
    let statements = std::fs::read_to_string(file).context("STATEMENTS_FILE")?;
    let rate =
        tokio::runtime::Runtime::new()?.block_on(measure(url, thread, &statements, connections, time))?;
    println!("{rate:.1}");
    Ok(())
}

async fn measure(url: &str, thread: &str, statements: &str, connections: u32, time: Duration) -> Result<f64> {
    let options: SqliteConnectOptions = url.parse()?;
    let pool = SqlitePoolOptions::new()
        .max_connections(connections)
        .connect_with(options.foreign_keys(true).pragma("query_only", "on"))
        .await?;
    let id = Uuid::parse_str(thread.trim_start_matches("chat-"))?;
    let row =
        sea_orm::sqlx::query("SELECT agent_key, first_message_id, last_message_id FROM chat WHERE id = ?")
            .bind(id)
            .fetch_one(&pool)
            .await?;
    let known = Known {
        id,
        agent_key: row.try_get(0)?,
        first: row.try_get(1)?,
        last: row.try_get(2)?,
    };
    let statements = statements
        .lines()
        .map(|sql| known.bind(sql))
        .collect::<Result<Vec<_>>>()?;
    let end = Instant::now() + time;
    let begun = Instant::now();
    let tasks = (0..connections).map(|_| {
        let (pool, statements) = (pool.clone(), statements.clone());
        tokio::spawn(async move { run(&pool, &statements, end).await })
    });
    let pages: u64 = try_join_all(tasks).await?.into_iter().sum::<Result<u64>>()?;
    Ok(pages as f64 / begun.elapsed().as_secs_f64())
}

/// What the thread's row says.
struct Known {
    id: Uuid,
    agent_key: Uuid,
    first: Uuid,
    last: Uuid,
}

impl Known {
    /// Finds each value by what stands before its place.
    fn bind(&self, sql: &str) -> Result<Bind> {
        let mut values = Vec::new();
        let on_chat = sql.contains("FROM \"chat\"");
        let places: Vec<_> = sql.split('?').collect();
        for before in &places[..places.len() - 1] {
            let word = before.split_whitespace().next_back().unwrap_or_default();
            let column = before.rsplit('"').nth(1).unwrap_or_default();
            values.push(match (word, column) {
                ("LIMIT", _) => Bound::Number(LIMIT),
                ("BETWEEN", "id") => Bound::Id(self.first),
                // What ends a BETWEEN: no column is named again.
                ("AND", _) => Bound::Id(self.last),
                (_, "team_id") => Bound::Text("default".to_owned()),
                (_, "agent_key") => Bound::Id(self.agent_key),
                (_, "chat_id") => Bound::Id(self.id),
                ("=", "id") if on_chat => Bound::Id(self.id),
                place => bail!("what is bound at {place:?} of {sql}?"),
            });
        }
        Ok(Bind {
            sql: sql.to_owned(),
            values,
        })
    }
}

async fn run(pool: &SqlitePool, statements: &[Bind], end: Instant) -> Result<u64> {
    let mut pages = 0;
    while Instant::now() < end {
        for Bind { sql, values } in statements {
            let mut query = sea_orm::sqlx::query(AssertSqlSafe(sql.clone()));
            for value in values.iter().cloned() {
                query = match value {
                    Bound::Id(id) => query.bind(id),
                    Bound::Text(text) => query.bind(text),
                    Bound::Number(number) => query.bind(number),
                };
            }
            let mut rows = query.fetch(pool);
            let mut count = 0;
            while rows.try_next().await?.is_some() {
                count += 1;
            }
            if count == 0 {
                bail!("no row came of {sql}");
            }
        }
        pages += 1;
    }
    Ok(pages)
}
