//! What writers know of what they sent, and the proof that the threads hold just that.
//!
//! A thread is a list that is only appended to, so a checker of list-append registers is enough: every acknowledged
//! turn is there once and whole, no other is, and what was acknowledged before something else was asked for comes
//! before it.

mod proof;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

use serde_json::Value;

use super::{Answer, Client, Key, Turn, client::ids};
pub use proof::{Proof, Wrong};

/// Everything that writers asked for and were told.
#[derive(Default)]
pub struct Ledger {
    threads: Mutex<BTreeMap<Key, Log>>,
}

/// What was asked of one thread.
#[derive(Default)]
pub struct Log {
    turns: HashMap<String, Sent>,
    presses: Vec<Press>,
}

/// A turn that was sent, once or more often.
struct Sent {
    turn: Turn,
    asked: Instant,
    acknowledged: Option<(Instant, Vec<String>)>,
    /// How many answers said that it was new.
    fresh: usize,
    /// Whether two answers named different messages.
    torn: bool,
}

/// A reset that was asked for, and the boundary that was answered.
struct Press {
    asked: Instant,
    acknowledged: Option<(Instant, Drawn)>,
}

struct Drawn {
    id: String,
    fresh: bool,
}

/// How a write ended for its writer. Only an acknowledged one is certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    Acknowledged { replayed: bool },
    Unavailable,
    Unanswered,
}

impl Ended {
    pub fn is_certain(self) -> bool {
        matches!(self, Self::Acknowledged { .. })
    }
}

impl Ledger {
    /// Reads or writes what is known of one thread.
    fn log<T>(&self, key: &Key, write: impl FnOnce(&mut Log) -> T) -> T {
        let mut threads: MutexGuard<_> = self.threads.lock().unwrap();
        if !threads.contains_key(key) {
            threads.insert(key.clone(), Log::default());
        }
        write(threads.get_mut(key).expect("it was put there"))
    }

    /// Appends a turn to a server that may die, or lose its database, at any moment.
    pub async fn append(&self, client: &Client, key: &Key, turn: &Turn) -> Ended {
        self.log(key, |log| log.ask(turn));
        let (payload, ended) = outcome(client.send_append_briefly(key, turn).await, "/appendTurn");
        let Some(payload) = payload else { return ended };
        let replayed = payload["replayed"].as_bool().expect("replayed");
        self.acknowledge(key, turn, ids(&payload["messages"]), replayed);
        Ended::Acknowledged { replayed }
    }

    /// Writes down that a turn is about to be sent.
    pub fn ask(&self, key: &Key, turn: &Turn) {
        self.log(key, |log| log.ask(turn));
    }

    /// Writes down that a turn was acknowledged.
    pub fn acknowledge(&self, key: &Key, turn: &Turn, ids: Vec<String>, replayed: bool) {
        self.log(key, |log| log.acknowledge(turn, ids, replayed));
    }

    /// Resets a thread of a server that may die at any moment.
    pub async fn reset(&self, client: &Client, key: &Key, thread_id: &str) -> Ended {
        let asked = Instant::now();
        let answer = client.send_reset(thread_id).await;
        let (payload, ended) = outcome(answer, "/resetThread");
        let drawn = payload.map(|payload| Drawn {
            id: payload["boundary"]["id"].as_str().expect("an id").to_owned(),
            fresh: payload["drawn"] == true,
        });
        let ended = drawn.as_ref().map_or(ended, |drawn| Ended::Acknowledged {
            replayed: !drawn.fresh,
        });
        let acknowledged = drawn.map(|drawn| (Instant::now(), drawn));
        self.log(key, |log| log.presses.push(Press { asked, acknowledged }));
        ended
    }

    /// How many turns were acknowledged until now.
    pub fn acknowledged(&self) -> usize {
        let threads = self.threads.lock().unwrap();
        let turns = threads.values().flat_map(|log| log.turns.values());
        turns.filter(|sent| sent.acknowledged.is_some()).count()
    }

    /// The ids of a thread's rows that were acknowledged until now, in order.
    pub fn rows(&self, key: &Key) -> Vec<String> {
        let threads = self.threads.lock().unwrap();
        let Some(log) = threads.get(key) else {
            return Vec::new();
        };
        let said = log.turns.values().filter_map(|sent| sent.acknowledged.as_ref());
        let drawn = log.presses.iter().filter_map(|press| press.acknowledged.as_ref());
        let mut rows: Vec<String> = said.flat_map(|(_, ids)| ids.clone()).collect();
        rows.extend(
            drawn
                .filter(|(_, drawn)| drawn.fresh)
                .map(|(_, drawn)| drawn.id.clone()),
        );
        rows.sort();
        rows
    }
}

impl Log {
    fn ask(&mut self, turn: &Turn) {
        let asked = Instant::now();
        self.turns.entry(turn.id().to_owned()).or_insert_with(|| Sent {
            turn: turn.clone(),
            asked,
            acknowledged: None,
            fresh: 0,
            torn: false,
        });
    }

    fn acknowledge(&mut self, turn: &Turn, ids: Vec<String>, replayed: bool) {
        let sent = self.turns.get_mut(turn.id()).expect("it was asked for");
        sent.fresh += usize::from(!replayed);
        let at = Instant::now();
        let (_, first) = sent.acknowledged.get_or_insert_with(|| (at, ids.clone()));
        sent.torn |= *first != ids;
    }
}

/// What an answer says, if there is one. Any refusal but "not now" fails the test.
fn outcome(answer: reqwest::Result<Answer>, pointer: &str) -> (Option<Value>, Ended) {
    match answer {
        Err(error) => {
            // Seen only when the test fails.
            eprintln!("no answer: {error:?}");
            (None, Ended::Unanswered)
        }
        Ok(answer) if answer.body["errors"].is_null() && answer.status == 200 => {
            let payload = answer.data(pointer).clone();
            (Some(payload), Ended::Acknowledged { replayed: false })
        }
        Ok(answer) => {
            assert_eq!(answer.code(), "SERVICE_UNAVAILABLE", "{}", answer.raw);
            eprintln!("not now: {}", answer.raw);
            (None, Ended::Unavailable)
        }
    }
}
