//! The page, the nested list and the turn through the Gateway: what each costs without HTTP and GraphQL.
//!
//! On a scratch SQLite file, and on PostgreSQL as well when BENCH_POSTGRES_URL names a server to make a database on.

use std::{
    env, fmt,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, Result};
use divan::{Bencher, counter::ItemsCount};
use futures::future::try_join_all;
use sea_orm::ConnectionTrait;
use tempfile::TempDir;
use threadline::{
    chat::{
        clock::Clock,
        cursor::{HistoryView, ThreadOrder},
        error::Error,
        gateway::{Gateway, GatewayLimits, ThreadsRequest},
        json::Json,
        model::{BeganUnder, Outcome, Role, Thread, ThreadKey},
        page::PageRequest,
        scope::Scope,
        turn::{MessageDraft, TurnDraft},
    },
    storage::{DatabaseSettings, SqlStore},
};
use tokio::runtime::Runtime;

const AGENT: &str = "support";
/// Turns of the long thread, each of as many messages as a turn may have.
const LONG_TURNS: u32 = 50;
const LONG_TURN: usize = 100;
const THREADS: u32 = 60;

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().expect("the runtime starts"));
static SQLITE: LazyLock<Bench> = LazyLock::new(|| Bench::open(Backend::Sqlite));
static POSTGRES: LazyLock<Bench> = LazyLock::new(|| Bench::open(Backend::Postgres));
static TURN: AtomicU32 = AtomicU32::new(0);

fn main() {
    divan::main();
}

/// Which database is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Backend {
    Sqlite,
    Postgres,
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        })
    }
}

impl Backend {
    fn bench(self) -> &'static Bench {
        match self {
            Self::Sqlite => &SQLITE,
            Self::Postgres => &POSTGRES,
        }
    }
}

fn backends() -> impl Iterator<Item = Backend> {
    let postgres = env::var_os("BENCH_POSTGRES_URL").map(|_| Backend::Postgres);
    [Backend::Sqlite].into_iter().chain(postgres)
}

/// A filled database behind its Gateway.
struct Bench {
    gateway: Gateway,
    long: Thread,
    /// Where the rows are, on SQLite.
    _folder: TempDir,
}

impl Bench {
    fn open(backend: Backend) -> Self {
        RUNTIME
            .block_on(Self::fill(backend))
            .expect("the database can be filled")
    }

    async fn fill(backend: Backend) -> Result<Self> {
        let folder = TempDir::with_prefix("threadline-bench-")?;
        let url = match backend {
            Backend::Sqlite => format!("sqlite://{}/bench.db?mode=rwc", folder.path().display()),
            Backend::Postgres => fresh_postgres().await?,
        };
        let seconds = Duration::from_secs;
        let settings = DatabaseSettings {
            url,
            schema: "threadline".to_owned(),
            max_connections: 16,
            acquire_timeout: seconds(3),
            statement_timeout: seconds(5),
            lock_timeout: seconds(2),
            idle_in_transaction_timeout: seconds(10),
        };
        let store = SqlStore::open(&settings, Clock::default()).await?;
        store.migrate().await?;
        let gateway = Gateway::open(Arc::new(store), &[], GatewayLimits::default()).await?;
        let scope = Scope::local();
        for _ in 0..LONG_TURNS {
            gateway.append_turn(&scope, turn("long", LONG_TURN)?).await?;
        }
        for number in 0..THREADS {
            gateway
                .append_turn(&scope, turn(&format!("person-{number}"), 10)?)
                .await?;
        }
        let long = gateway
            .thread_by_key(&scope, &key("long"))
            .await?
            .context("the long thread")?;
        Ok(Self {
            gateway,
            long,
            _folder: folder,
        })
    }

    async fn page(&self, cursor: Option<String>) -> Result<Option<String>, Error> {
        let scope = Scope::local();
        let thread = self
            .gateway
            .thread(&scope, self.long.id)
            .await?
            .ok_or(Error::NotFound("the thread"))?;
        let page = PageRequest { limit: 50, cursor };
        let range = self.gateway.page_of(&scope, &thread, HistoryView::Full, &page)?;
        let page = self.gateway.messages(&scope, vec![range]).await?.pop();
        Ok(page.and_then(|page| page.next_cursor))
    }

    async fn nested(&self) -> Result<usize, Error> {
        let scope = Scope::local();
        let threads = ThreadsRequest {
            agent_id: AGENT.to_owned(),
            channel: None,
            person_id: None,
            order: ThreadOrder::Activity,
            page: PageRequest {
                limit: 50,
                cursor: None,
            },
        };
        let threads = self.gateway.threads(&scope, threads).await?.items;
        let five = PageRequest {
            limit: 5,
            cursor: None,
        };
        let ranges = threads
            .iter()
            .map(|thread| self.gateway.page_of(&scope, thread, HistoryView::Full, &five))
            .collect::<Result<_, _>>()?;
        Ok(self.gateway.messages(&scope, ranges).await?.len())
    }
}

async fn fresh_postgres() -> Result<String> {
    let server = env::var("BENCH_POSTGRES_URL")?;
    let db = sea_orm::Database::connect(&server).await?;
    db.execute_unprepared("DROP DATABASE IF EXISTS threadline_page_bench WITH (FORCE)")
        .await?;
    db.execute_unprepared("CREATE DATABASE threadline_page_bench")
        .await?;
    db.close().await?;
    let (base, _) = server
        .rsplit_once('/')
        .context("BENCH_POSTGRES_URL ends with a database's name")?;
    Ok(format!("{base}/threadline_page_bench"))
}

fn key(person: &str) -> ThreadKey {
    ThreadKey {
        agent_id: AGENT.to_owned(),
        channel: "api".to_owned(),
        person_id: person.to_owned(),
    }
}

/// A turn that nobody has sent before.
fn turn(person: &str, messages: usize) -> Result<TurnDraft> {
    let text =
        "It is on its way: the courier has it since this morning and brings it in the afternoon. ".repeat(4);
    let content = Json::parse(format!(r#"{{"parts":[{{"type":"text","text":"{text}"}}]}}"#).as_bytes())?;
    let message = MessageDraft {
        role: Role::Assistant,
        content,
        tokens: Some(60),
    };
    Ok(TurnDraft {
        key: key(person),
        turn_id: format!("turn-{}", TURN.fetch_add(1, Ordering::Relaxed)),
        outcome: Some(Outcome::Completed),
        began: BeganUnder::Now,
        messages: vec![message; messages],
    })
}

#[divan::bench(args = backends())]
fn first_page(bencher: Bencher, backend: Backend) {
    let bench = backend.bench();
    bencher
        .counter(ItemsCount::new(50_u32))
        .bench(|| RUNTIME.block_on(bench.page(None)).expect("a page"));
}

#[divan::bench(args = backends())]
fn deep_page(bencher: Bencher, backend: Backend) {
    let bench = backend.bench();
    let cursor = RUNTIME.block_on(async {
        let mut cursor = None;
        for _ in 0..LONG_TURNS {
            cursor = bench.page(cursor).await.expect("a page");
        }
        cursor
    });
    bencher
        .counter(ItemsCount::new(50_u32))
        .with_inputs(|| cursor.clone())
        .bench_values(|cursor| RUNTIME.block_on(bench.page(cursor)).expect("a page"));
}

/// 50 threads with 5 messages each.
#[divan::bench(args = backends())]
fn nested_list(bencher: Bencher, backend: Backend) {
    let bench = backend.bench();
    bencher
        .counter(ItemsCount::new(250_u32))
        .bench(|| RUNTIME.block_on(bench.nested()).expect("a list"));
}

/// Two messages to one of the threads, one turn at a time.
#[divan::bench(args = backends())]
fn turn_write(bencher: Bencher, backend: Backend) {
    let bench = backend.bench();
    bencher
        .with_inputs(|| turn("person-1", 2).expect("a turn"))
        .bench_values(|turn| {
            RUNTIME
                .block_on(bench.gateway.append_turn(&Scope::local(), turn))
                .expect("a turn")
        });
}

/// Two messages to each of 16 threads at once: how commits share the disk.
#[divan::bench(args = backends())]
fn turn_writes_at_once(bencher: Bencher, backend: Backend) {
    let bench = backend.bench();
    let turns = || {
        (0..16)
            .map(|number| turn(&format!("person-{number}"), 2).expect("a turn"))
            .collect()
    };
    bencher
        .counter(ItemsCount::new(16_u32))
        .with_inputs(turns)
        .bench_values(|turns: Vec<TurnDraft>| {
            let appended = turns.into_iter().map(|turn| {
                let gateway = bench.gateway.clone();
                async move { gateway.append_turn(&Scope::local(), turn).await }
            });
            RUNTIME.block_on(try_join_all(appended)).expect("turns").len()
        });
}
