//! What was acknowledged outlives the server (R1) and the database (R2), whoever dies when.

use std::time::{Duration, Instant};

use futures::future::{join, join_all};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::support::cluster::Cluster;
use crate::support::{Client, Database, Ended, Key, Ledger, Process, Turn, figures, on_both, rounds};

on_both! {
    what_was_acknowledged_is_there_once_however_often_the_server_is_killed,
}

const WRITERS: usize = 8;

/// Eight writers of whom nobody gives up, and what they went through.
struct Writers {
    ledger: Ledger,
    /// Where the server is.
    server: watch::Sender<Client>,
    turns: usize,
}

/// How often something was sent again, and how often it turned out to be stored.
#[derive(Default)]
struct Retries {
    sent: usize,
    found: usize,
}

impl Writers {
    fn new(client: &Client, turns: usize) -> Self {
        Self {
            ledger: Ledger::default(),
            server: watch::channel(client.clone()).0,
            turns,
        }
    }

    async fn write(&self) -> Retries {
        let writers = (0..WRITERS).map(|writer| self.write_as(writer));
        join_all(writers)
            .await
            .into_iter()
            .fold(Retries::default(), |all, one| Retries {
                sent: all.sent + one.sent,
                found: all.found + one.found,
            })
    }

    /// Sends turn after turn, each until it is acknowledged: to one of two threads that others write to as well, and
    /// now and then to a new one.
    async fn write_as(&self, writer: usize) -> Retries {
        let mut retries = Retries::default();
        let mut server = self.server.subscribe();
        for n in 0..self.turns / WRITERS {
            let person = match n % 20 {
                0 => format!("new {writer} {n}"),
                _ => format!("shared {}", (writer + n) % 4),
            };
            let texts: Vec<String> = (0..=n % 3).map(|part| format!("{writer}.{n}.{part}")).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let turn = Turn::of_texts(&format!("{writer}.{n}"), &texts);
            let mut again = 0;
            loop {
                let client = server.borrow_and_update().clone();
                match self.ledger.append(&client, &Key::of(&person), &turn).await {
                    Ended::Acknowledged { replayed } => {
                        retries.found += usize::from(replayed);
                        break;
                    }
                    // It is gone: wait for the next one, or a moment for the database.
                    Ended::Unanswered | Ended::Unavailable => {
                        let _ = tokio::time::timeout(Duration::from_millis(50), server.changed()).await;
                    }
                }
                again += 1;
            }
            retries.sent += again;
        }
        retries
    }

    /// Waits for a random moment at which about as much has been written as has been killed.
    async fn reach(&self, kill: usize, of: usize) {
        let acknowledged = self.ledger.acknowledged();
        let left = self.all() - acknowledged;
        let enough = acknowledged + rand::random_range(0..=2 * left / (of - kill + 1));
        while self.ledger.acknowledged() < enough.min(self.all()) {
            sleep(Duration::from_millis(2)).await;
        }
        sleep(Duration::from_micros(rand::random_range(0..20_000))).await;
    }

    fn all(&self) -> usize {
        self.turns / WRITERS * WRITERS
    }

    /// Reads everything back, prints the figures and fails when something is wrong.
    async fn prove(
        &self,
        promise: &str,
        db: &Database,
        began: Instant,
        retries: &Retries,
        more: &[(&str, usize)],
    ) {
        let server = Process::start(db, &[]).await;
        let proof = self.ledger.prove(&server).await;
        let mut counted = vec![("operations", proof.turns + retries.sent)];
        counted.extend(more);
        counted.extend([
            ("acknowledged", self.ledger.acknowledged()),
            ("retried", retries.sent),
            ("found_stored", retries.found),
        ]);
        counted.extend(proof.figures());
        figures::report(promise, db, began, &counted);
        proof.assert_holds();
        assert_eq!(self.ledger.acknowledged(), self.all());
    }
}

async fn what_was_acknowledged_is_there_once_however_often_the_server_is_killed(db: &Database) {
    let began = Instant::now();
    let (kills, turns) = (rounds(4, 200), rounds(160, 20_000));
    let mut server = Process::start(db, &[]).await;
    let writers = Writers::new(&server, turns);
    let killing = async {
        for kill in 0..kills {
            writers.reach(kill, kills).await;
            server.kill9();
            if kill % 10 == 3 {
                // One more, while it starts.
                let mut starting = Process::spawn(db, &[]);
                sleep(Duration::from_millis(rand::random_range(0..200))).await;
                starting.kill9();
            }
            server = Process::start(db, &[]).await;
            writers.server.send_replace(server.client().clone());
        }
    };
    let (retries, ()) = join(writers.write(), killing).await;
    drop(server);
    writers
        .prove("R1", db, began, &retries, &[("kills", kills)])
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_is_there_once_however_often_postgres_is_killed() {
    let began = Instant::now();
    let (crashes, turns) = (rounds(2, 50), rounds(160, 5_000));
    let cluster = Cluster::start().await;
    let db = cluster.database();
    let server = Process::start(&db, &[]).await;
    let writers = Writers::new(&server, turns);
    let crashing = async {
        let mut slowest = Duration::ZERO;
        for crash in 0..crashes {
            writers.reach(crash, crashes).await;
            cluster.kill9();
            sleep(Duration::from_millis(rand::random_range(0..500))).await;
            cluster.run();
            let accepting = cluster.accepts().await;
            while !server.is_ok("/readyz").await {
                sleep(Duration::from_millis(10)).await;
                assert!(
                    accepting.elapsed() < READY,
                    "not ready in {READY:?}: {}",
                    server.output()
                );
            }
            slowest = slowest.max(accepting.elapsed());
        }
        usize::try_from(slowest.as_millis()).unwrap()
    };
    let (retries, slowest) = join(writers.write(), crashing).await;
    let more = [("crashes", crashes), ("slowest_ready_ms", slowest)];
    drop(server);
    writers.prove("R2", &db, began, &retries, &more).await;
}

/// How soon the server is ready once PostgreSQL accepts connections again.
const READY: Duration = Duration::from_secs(10);
