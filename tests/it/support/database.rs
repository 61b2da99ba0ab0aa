//! A fresh database for each test, gone afterwards.

use std::env;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use sea_orm::ConnectionTrait;
use tempfile::TempDir;
use threadline::chat::clock::Clock;
use threadline::chat::gateway::{Gateway, GatewayLimits};
use threadline::storage::{DatabaseSettings, SqlStore};

use super::id;

/// Where the rows of a test are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    Sqlite,
    Postgres,
}

/// An empty database that nobody else uses.
pub struct Database {
    pub backend: Backend,
    url: String,
    name: String,
    folder: TempDir,
}

impl Database {
    async fn create(backend: Backend) -> Self {
        let folder = TempDir::with_prefix("threadline-test-").unwrap();
        let name = format!("test_{}", id::unused().simple());
        let url = match backend {
            Backend::Sqlite => format!("sqlite://{}/threadline.db?mode=rwc", folder.path().display()),
            Backend::Postgres => {
                on_postgres_server(&format!("CREATE DATABASE {name}")).await;
                postgres_url_of(&name)
            }
        };
        Self {
            backend,
            url,
            name,
            folder,
        }
    }

    async fn discard(self) {
        if self.backend == Backend::Postgres {
            on_postgres_server(&format!("DROP DATABASE {} WITH (FORCE)", self.name)).await;
        }
    }

    /// The URL to give to a server.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The one door to this database, without HTTP in front of it.
    pub async fn gateway(&self) -> Gateway {
        self.gateway_at(&self.url).await
    }

    /// The same door by another way to the database.
    pub async fn gateway_at(&self, url: &str) -> Gateway {
        let store = self.store_at(url).await;
        let limits = GatewayLimits::default();
        Gateway::open(Arc::new(store), &[], limits).await.unwrap()
    }

    /// The rows, as a server's store has them.
    async fn store_at(&self, url: &str) -> SqlStore {
        let settings = DatabaseSettings {
            url: url.to_owned(),
            schema: "threadline".to_owned(),
            max_connections: 10,
            acquire_timeout: Duration::from_secs(3),
            statement_timeout: Duration::from_secs(5),
            lock_timeout: Duration::from_secs(2),
            idle_in_transaction_timeout: Duration::from_secs(10),
        };
        let store = SqlStore::open(&settings, Clock::default()).await.unwrap();
        store.migrate().await.unwrap();
        store
    }

    /// A folder that is gone after the test.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

/// The database of a PostgreSQL that a test owns.
pub fn at(url: String) -> Database {
    Database {
        backend: Backend::Postgres,
        url,
        name: String::new(),
        folder: TempDir::with_prefix("threadline-test-").unwrap(),
    }
}

/// Runs a test's body over a fresh database and removes it, however the body ends.
pub async fn with_database(backend: Backend, body: impl AsyncFnOnce(&Database)) {
    let database = Database::create(backend).await;
    let result = AssertUnwindSafe(body(&database)).catch_unwind().await;
    database.discard().await;
    if let Err(panic) = result {
        resume_unwind(panic);
    }
}

fn postgres_server() -> String {
    env::var("TEST_POSTGRES_URL").expect("TEST_POSTGRES_URL names no PostgreSQL to test on: run tests/run")
}

fn postgres_url_of(name: &str) -> String {
    let mut url: reqwest::Url = postgres_server().parse().expect("TEST_POSTGRES_URL is a URL");
    url.set_path(name);
    url.into()
}

async fn on_postgres_server(sql: &str) {
    let server = sea_orm::Database::connect(postgres_server()).await.unwrap();
    server.execute_unprepared(sql).await.unwrap();
    server.close().await.unwrap();
}
