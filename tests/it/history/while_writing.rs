//! Walking back while others write (R9): through two servers, by GraphQL and by REST, page by page.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use futures::future::{join, join_all};
use tokio::time::{MissedTickBehavior, interval};

use crate::support::{
    Client, Database, Key, Ledger, List, Process, Proof, Turn, figures, ledger::Wrong, on_both, rounds,
};

on_both! {
    every_row_that_was_there_at_the_start_comes_exactly_once,
}

const THREADS: usize = 4;
const WALKERS: usize = 4;

/// Each writer stores two messages so often: 200 messages a second in all, also when an answer takes a while.
const PACE: Duration = Duration::from_millis(160);
const WRITERS: usize = 16;

/// How many operations are done on the threads of one agent, before they grow too long to be walked whole.
const OF_AN_AGENT: usize = 2_000;

/// An agent whose threads are written to and walked at once.
struct Agent<'a> {
    servers: [&'a Client; 2],
    ledger: Ledger,
    keys: Vec<Key>,
    threads: Vec<String>,
    operations: AtomicUsize,
    enough: usize,
    done: AtomicBool,
}

/// A walk to the start of a list: what had to be in it, and what was.
struct Walk {
    list: String,
    there: Vec<String>,
    read: Vec<String>,
}

async fn every_row_that_was_there_at_the_start_comes_exactly_once(db: &Database) {
    let began = Instant::now();
    let [one, other] = Process::pair(db).await;
    let wanted = rounds(200, 100_000);
    let (mut operations, mut walks, mut pace) = (0, 0, Vec::new());
    let mut proof = Proof::default();
    for n in 0.. {
        if operations >= wanted {
            break;
        }
        let enough = OF_AN_AGENT.min(wanted - operations);
        let agent = Agent::begin([&one, &other], &format!("agent {n}"), enough).await;
        let (walked, a_second) = join(agent.walk(), agent.write()).await;
        pace.push(a_second);
        operations += agent.operations.load(Relaxed);
        walks += walked.len();
        proof = proof.and(agent.ledger.prove(&one).await);
        let threads: Vec<Vec<String>> = agent.keys.iter().map(|key| agent.ledger.rows(key)).collect();
        for walk in &walked {
            walk.check(&threads, &mut proof);
        }
        // A long run need not go on when it has failed.
        proof.assert_holds();
    }
    let mut counted = vec![
        ("operations", operations),
        ("walks", walks),
        ("written_a_second", pace.iter().sum::<usize>() / pace.len()),
    ];
    counted.extend(proof.figures());
    figures::report("R9", db, began, &counted);
}

impl<'a> Agent<'a> {
    async fn begin(servers: [&'a Client; 2], name: &str, enough: usize) -> Self {
        let keys = (0..THREADS).map(|n| Key::new(name, "widget", &format!("p{n}")));
        let mut agent = Self {
            servers,
            ledger: Ledger::default(),
            keys: keys.collect(),
            threads: Vec::new(),
            operations: AtomicUsize::new(0),
            enough,
            done: AtomicBool::new(false),
        };
        for key in &agent.keys {
            for n in 0..3 {
                let turn = Turn::of_texts(&format!("first {n}"), &["x"; 30]);
                assert!(agent.ledger.append(servers[n % 2], key, &turn).await.is_certain());
            }
            agent.threads.push(servers[0].thread_id(key).await);
        }
        agent
    }

    fn any_server(&self) -> &Client {
        self.servers[rand::random_range(0..2)]
    }

    /// Writes until the walkers are done, and says how many messages a second.
    async fn write(&self) -> usize {
        let began = Instant::now();
        let writers = (0..WRITERS).map(async |writer| {
            let (at, mut messages) = (writer % THREADS, 0);
            let mut tick = interval(PACE);
            tick.set_missed_tick_behavior(MissedTickBehavior::Burst);
            for n in 0.. {
                if self.done.load(Relaxed) {
                    break;
                }
                tick.tick().await;
                let turn = Turn::of_texts(&format!("{writer}.{n}"), &["new", "newer"]);
                let said = self.ledger.append(self.any_server(), &self.keys[at], &turn).await;
                assert!(said.is_certain());
                messages += 2;
                if n % 25 == 24 {
                    let thread = &self.threads[at];
                    let drawn = self.ledger.reset(self.any_server(), &self.keys[at], thread).await;
                    assert!(drawn.is_certain());
                    messages += 1;
                }
                self.operations.fetch_add(1, Relaxed);
            }
            messages
        });
        let messages: usize = join_all(writers).await.into_iter().sum();
        (messages as f64 / began.elapsed().as_secs_f64()).round() as usize
    }

    async fn walk(&self) -> Vec<Walk> {
        let walkers = (0..WALKERS).map(async |_| {
            let mut walks = Vec::new();
            while self.operations.load(Relaxed) < self.enough {
                walks.push(self.walk_once().await);
            }
            walks
        });
        let walks = join_all(walkers).await.into_iter().flatten().collect();
        self.done.store(true, Relaxed);
        walks
    }

    /// Walks one of the lists to its start, each page by a door of its own.
    async fn walk_once(&self) -> Walk {
        let at = rand::random_range(0..=THREADS);
        let name = &self.keys[0].agent;
        let (list, keys) = match self.threads.get(at) {
            Some(thread) => (List::of_thread(name, thread), &self.keys[at..=at]),
            None => (List::of_agent(name), &self.keys[..]),
        };
        let there = keys.iter().flat_map(|key| self.ledger.rows(key)).collect();
        let limit = [3, 10, 20, 49, 50, 51, 200][rand::random_range(0..7)];
        let (mut pages, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let page = match rand::random() {
                true => self.any_server().page(&list, limit, cursor.as_deref()).await,
                false => self.any_server().rest_page(&list, limit, cursor.as_deref()).await,
            };
            self.operations.fetch_add(1, Relaxed);
            pages.push(page.ids());
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        Walk {
            list: format!("{list:?} by {limit}"),
            there,
            read: pages.into_iter().rev().flatten().collect(),
        }
    }
}

impl Walk {
    /// A walk is in one order, has all that was there when it began, and of each thread a beginning of what is
    /// there at the end: nothing is left out between.
    fn check(&self, threads: &[Vec<String>], proof: &mut Proof) {
        if !self.read.windows(2).all(|pair| pair[0] < pair[1]) {
            proof.found(Wrong::Disordered, self.list.clone());
        }
        if let Some(missed) = self.there.iter().find(|id| self.read.binary_search(id).is_err()) {
            proof.found(Wrong::Lost, format!("{missed} in a walk of {}", self.list));
        }
        let mut known = 0;
        for rows in threads {
            let read = rows
                .iter()
                .filter(|id| self.read.binary_search(id).is_ok())
                .count();
            let newest = rows.iter().rposition(|id| self.read.binary_search(id).is_ok());
            if newest.map_or(0, |at| at + 1) != read {
                proof.found(Wrong::Lost, format!("a row between others in {}", self.list));
            }
            known += read;
        }
        if known != self.read.len() {
            proof.found(Wrong::Unknown, format!("a row in {}", self.list));
        }
    }
}
