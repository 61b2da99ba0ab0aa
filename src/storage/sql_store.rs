//! The store over SQL: each method is one unit of work in a task of its own.

use std::{future::Future, sync::Arc};

use async_trait::async_trait;
use sea_orm::{DatabaseConnection, DbBackend, DbErr};
use tracing::Instrument;

use super::{
    admission::Purpose,
    append::Append,
    connect::{self, DatabaseSettings, Pools},
    draw::Draw,
    entity::chat,
    error,
    import::Import,
    partition,
    probe::Probe,
    read, schema, secrets,
    write::{self, Failure, Write},
};
use crate::chat::{
    clock::Clock,
    error::{Error, Result},
    id::{MessageId, ThreadId},
    import::ImportedTurn,
    model::{Message, Thread, ThreadKey},
    page::Cut,
    store::{AgentRange, Appended, Drawn, MessageRange, NewLine, Store, ThreadFilter, ThreadRange},
    turn::NewTurn,
};

/// How often a write is started over after a partition was made for it; more than once only when months pass by.
const PARTITION_TRIES: usize = 3;

/// PostgreSQL or SQLite.
#[derive(Clone)]
pub struct SqlStore(Arc<Inner>);

struct Inner {
    pools: Pools,
    probe: Probe,
    schema: String,
    clock: Clock,
}

impl SqlStore {
    /// Connects to a database. Nothing is made in it before [`migrate`](Self::migrate).
    ///
    /// # Errors
    /// [`Error::Unavailable`] when it cannot be reached.
    pub async fn open(settings: &DatabaseSettings, clock: Clock) -> Result<Self> {
        let pools = connect::connect(settings).await.map_err(error::from_db)?;
        Ok(Self(Arc::new(Inner {
            pools,
            probe: Probe::default(),
            schema: settings.schema.clone(),
            clock,
        })))
    }

    /// Brings the tables up to date; several replicas may do so at once.
    ///
    /// # Errors
    /// When the database fails or is newer than this server; then nothing was changed.
    pub async fn migrate(&self) -> Result<()> {
        let store = self.clone();
        let write = &self.0.pools.write;
        write
            .run(Purpose::Migrate, |db| async move {
                let transaction = write::begin(&db).await?;
                schema::migrate(&transaction, &store.0.schema).await?;
                write::commit(transaction).await
            })
            .await?;
        self.maintain().await
    }

    /// Runs a write; when it lacks a partition, makes it and starts over.
    async fn write<W: Write>(&self, work: W) -> Result<W::Output> {
        let store = self.clone();
        let write = &self.0.pools.write;
        write
            .run(Purpose::Write, |db| async move {
                for _ in 1..PARTITION_TRIES {
                    match store.attempt(&db, &work).await {
                        Err(Failure::NoPartition(ids)) => partition::make_for(&db, &ids).await?,
                        done => return done,
                    }
                }
                store.attempt(&db, &work).await
            })
            .await
    }

    async fn attempt<W: Write>(&self, db: &DatabaseConnection, work: &W) -> Result<W::Output, Failure> {
        let transaction = write::begin(db).await?;
        match work.run(&transaction, &self.0.clock).await {
            Ok(done) => {
                write::commit(transaction).await?;
                Ok(done)
            }
            Err(failure) => Err(write::undo(transaction, failure).await),
        }
    }

    /// Runs reads against the pool for reading.
    async fn read<T, F>(&self, work: impl FnOnce(DatabaseConnection) -> F + Send + 'static) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, DbErr>> + Send + 'static,
    {
        let read = &self.0.pools.read;
        read.run(Purpose::Read, |db| {
            let work = work(db);
            async move { Ok(work.await?) }
        })
        .await
    }
}

#[async_trait]
impl Store for SqlStore {
    async fn ready(&self) -> Result<()> {
        let store = self.clone();
        // Whoever asked and went away must not make the next one begin anew.
        let probe = async move { store.0.probe.ask(&store.0.pools.write).await };
        let probed = tokio::spawn(probe.in_current_span()).await;
        probed.map_err(|_panic| Error::Internal("the probe panicked; its place is in the log".into()))?
    }

    async fn cursor_secret(&self) -> Result<Vec<u8>> {
        self.write(secrets::CursorSecret).await
    }

    async fn maintain(&self) -> Result<()> {
        let now = self.0.clock.now();
        let write = &self.0.pools.write;
        write
            .run(Purpose::Write, move |db| async move {
                if db.get_database_backend() == DbBackend::Postgres {
                    partition::make_ahead(&db, now).await?;
                }
                Ok(())
            })
            .await
    }

    async fn threads_by_id(&self, team_id: &str, ids: &[ThreadId]) -> Result<Vec<Thread>> {
        let select = chat::Entity::by_ids(team_id, ids);
        self.read(|db| async move { read::threads(&db, select).await })
            .await
    }

    async fn thread_by_key(&self, team_id: &str, key: &ThreadKey) -> Result<Option<Thread>> {
        let select = chat::Entity::by_key(team_id, key);
        Ok(self
            .read(|db| async move { read::threads(&db, select).await })
            .await?
            .pop())
    }

    async fn threads(&self, team_id: &str, range: ThreadRange) -> Result<Cut<Thread>> {
        let select = read::thread_range(team_id, &range);
        let threads = self
            .read(|db| async move { read::threads(&db, select).await })
            .await?;
        let mut cut = Cut::new(range.extent);
        for thread in threads {
            cut.offer(thread, 0);
        }
        Ok(cut)
    }

    async fn threads_after(
        &self,
        team_id: &str,
        after: Option<ThreadId>,
        filter: &ThreadFilter,
    ) -> Result<Vec<Thread>> {
        let select = read::threads_after(team_id, after, filter);
        self.read(|db| async move { read::threads(&db, select).await })
            .await
    }

    async fn agent_messages(&self, team_id: &str, range: AgentRange) -> Result<Cut<Message>> {
        let team_id = team_id.to_owned();
        self.read(|db| async move { read::agent_messages(&db, &team_id, &range).await })
            .await
    }

    async fn messages(&self, team_id: &str, ranges: Vec<MessageRange>) -> Result<Vec<Cut<Message>>> {
        let team_id = team_id.to_owned();
        self.read(|db| async move { read::messages(&db, &team_id, &ranges).await })
            .await
    }

    async fn messages_by_id(&self, team_id: &str, ids: Vec<(Thread, MessageId)>) -> Result<Vec<Message>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let team_id = team_id.to_owned();
        self.read(|db| async move { read::messages_by_id(&db, &team_id, &ids).await })
            .await
    }

    async fn append(&self, team_id: &str, turn: NewTurn) -> Result<Appended> {
        self.write(Append {
            team_id: team_id.to_owned(),
            turn,
        })
        .await
    }

    async fn draw(&self, team_id: &str, thread_id: ThreadId, line: NewLine) -> Result<Drawn> {
        self.write(Draw {
            team_id: team_id.to_owned(),
            thread_id,
            line,
        })
        .await
    }

    async fn import(&self, team_id: &str, turns: Vec<ImportedTurn>, write: bool) -> Result<u64> {
        self.write(Import {
            team_id: team_id.to_owned(),
            turns,
            write,
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sea_orm::{ConnectionTrait, DatabaseTransaction};

    use super::*;
    use crate::chat::{
        json::Json,
        model::{BeganUnder, Outcome, Role},
        turn::{MessageDraft, TurnDraft, WriteLimits},
    };

    /// A turn that is written to its end and then panics.
    struct Panics(Append);

    #[async_trait]
    impl Write for Panics {
        type Output = Appended;

        async fn run(&self, db: &DatabaseTransaction, clock: &Clock) -> Result<Appended, Failure> {
            self.0.run(db, clock).await?;
            panic!("in the middle of a write")
        }
    }

    fn append() -> Append {
        let content = Json::parse(br#"{"parts":[{"type":"text","text":"hello"}]}"#).unwrap();
        let limits = WriteLimits {
            message_bytes: 1000,
            turn_bytes: 1000,
        };
        let draft = TurnDraft {
            key: ThreadKey::new("support".to_owned(), "widget".to_owned(), "p".to_owned()).unwrap(),
            turn_id: "t".to_owned(),
            outcome: Some(Outcome::Completed),
            began: BeganUnder::Now,
            messages: vec![MessageDraft {
                role: Role::User,
                content,
                tokens: None,
            }],
        };
        Append {
            team_id: "default".to_owned(),
            turn: NewTurn::new(draft, limits).unwrap(),
        }
    }

    async fn open(url: String, schema: &str) -> SqlStore {
        let patience = Duration::from_secs(10);
        let settings = DatabaseSettings {
            url,
            schema: schema.to_owned(),
            max_connections: 2,
            acquire_timeout: patience,
            statement_timeout: patience,
            lock_timeout: patience,
            idle_in_transaction_timeout: patience,
        };
        let store = SqlStore::open(&settings, Clock::default()).await.unwrap();
        store.migrate().await.unwrap();
        store
    }

    async fn panic_and_try_again(store: &SqlStore) {
        let panicked = store.write(Panics(append())).await;
        assert!(matches!(panicked, Err(Error::Internal(_))), "{panicked:?}");
        let append = append();
        let thread = store.thread_by_key("default", &append.turn.key).await.unwrap();
        assert_eq!(thread, None, "nothing of it is there");
        assert!(
            !store.write(append).await.unwrap().replayed,
            "and nothing of it is in the way"
        );
    }

    #[tokio::test]
    async fn a_panic_in_the_middle_of_a_write_writes_nothing_to_sqlite() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/threadline.db?mode=rwc", folder.path().display());
        panic_and_try_again(&open(url, "").await).await;
    }

    #[tokio::test]
    async fn a_panic_in_the_middle_of_a_write_writes_nothing_to_postgres() {
        let url = std::env::var("TEST_POSTGRES_URL").expect("a PostgreSQL to test on: run tests/run");
        let schema = format!("panic_{}", std::process::id());
        let store = open(url, &schema).await;
        panic_and_try_again(&store).await;
        let drop = format!("DROP SCHEMA {schema} CASCADE");
        let write = &store.0.pools.write;
        write
            .run(Purpose::Write, |db| async move {
                db.execute_unprepared(&drop).await?;
                Ok(())
            })
            .await
            .unwrap();
    }
}
