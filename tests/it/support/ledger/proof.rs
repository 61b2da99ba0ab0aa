//! Reading the threads back and comparing.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::Instant;

use serde_json::Value;

use super::{Ledger, Log, Press, Sent};
use crate::support::list::oldest_first;
use crate::support::{Client, Key, List};

/// What can be wrong with what is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// Acknowledged and not there.
    Lost,
    /// There twice.
    Doubled,
    /// There in part, in parts, or otherwise than it was sent.
    Half,
    /// There and never sent.
    Unknown,
    /// Not where it belongs.
    Disordered,
    /// Counted wrong.
    Miscounted,
}

/// What a comparison saw.
#[derive(Debug, Default)]
pub struct Proof {
    pub turns: usize,
    pub messages: usize,
    pub boundaries: usize,
    pub wrong: Vec<(Wrong, String)>,
}

impl Proof {
    pub fn count(&self, wrong: Wrong) -> usize {
        self.wrong.iter().filter(|(is, _)| *is == wrong).count()
    }

    /// The figures of everything that can be wrong.
    pub fn figures(&self) -> [(&'static str, usize); 6] {
        [
            ("messages", self.messages),
            ("lost", self.count(Wrong::Lost)),
            ("doubled", self.count(Wrong::Doubled)),
            ("half", self.count(Wrong::Half)),
            ("unknown", self.count(Wrong::Unknown)),
            (
                "disordered",
                self.count(Wrong::Disordered) + self.count(Wrong::Miscounted),
            ),
        ]
    }

    /// Fails the test when something is wrong, naming the first of it.
    pub fn assert_holds(&self) {
        let first = &self.wrong[..self.wrong.len().min(10)];
        assert!(first.is_empty(), "{} are wrong: {first:#?}", self.wrong.len());
    }

    /// This and another.
    pub fn and(mut self, other: Self) -> Self {
        self.turns += other.turns;
        self.messages += other.messages;
        self.boundaries += other.boundaries;
        self.wrong.extend(other.wrong);
        self
    }

    pub fn found(&mut self, wrong: Wrong, what: impl Into<String>) {
        self.wrong.push((wrong, what.into()));
    }
}

/// A turn, or a boundary, as it stands in a thread.
struct Run<'a> {
    turn: Option<&'a str>,
    rows: &'a [Value],
}

/// When something was asked for first, and first acknowledged.
struct Interval {
    asked: Instant,
    acknowledged: Option<Instant>,
}

impl Ledger {
    /// Reads every thread of every agent that was written to, page by page, and compares.
    pub async fn prove(&self, client: &Client) -> Proof {
        let mut proof = Proof::default();
        let agents: BTreeSet<String> = self.log_keys().into_iter().map(|key| key.agent).collect();
        for agent in agents {
            let mut threads = threads(client, &agent, &mut proof).await;
            for key in self.log_keys().into_iter().filter(|key| key.agent == agent) {
                let (rows, count) = match threads.remove(&key) {
                    Some((id, count)) => (rows(client, &agent, &id).await, count),
                    None => (Vec::new(), 0),
                };
                if count != rows.len() as u64 {
                    let said = format!("{key:?}: messageCount {count}, {} rows", rows.len());
                    proof.found(Wrong::Miscounted, said);
                }
                proof = proof.and(self.compare(&key, &rows));
            }
            for key in threads.keys() {
                proof.found(Wrong::Unknown, format!("the thread {key:?}"));
            }
        }
        proof
    }

    /// Compares what is stored in one thread, as REST gives it, with what was asked for.
    pub fn compare(&self, key: &Key, rows: &[Value]) -> Proof {
        let mut proof = Proof::default();
        self.log(key, |log| log.compare(rows, &mut proof));
        proof
    }

    fn log_keys(&self) -> Vec<Key> {
        self.threads.lock().unwrap().keys().cloned().collect()
    }
}

/// The agent's threads: their ids and how many messages they say they have.
async fn threads(client: &Client, agent: &str, proof: &mut Proof) -> BTreeMap<Key, (String, u64)> {
    let mut threads = BTreeMap::new();
    for page in client.rest_walk(&List::threads(agent), 200).await {
        for item in page.items {
            let text = |field: &str| item[field].as_str().expect(field).to_owned();
            let key = Key::new(agent, &text("channel"), &text("personId"));
            let count = item["messageCount"].as_u64().expect("a count");
            if threads.insert(key.clone(), (text("id"), count)).is_some() {
                proof.found(Wrong::Doubled, format!("two threads of {key:?}"));
            }
        }
    }
    threads
}

async fn rows(client: &Client, agent: &str, thread: &str) -> Vec<Value> {
    oldest_first(&client.rest_walk(&List::of_thread(agent, thread), 200).await)
}

impl Log {
    fn compare(&self, rows: &[Value], proof: &mut Proof) {
        proof.messages += rows.len();
        for pair in rows.windows(2) {
            if text(&pair[0], "id") >= text(&pair[1], "id") {
                proof.found(Wrong::Disordered, format!("ids of {} and {}", pair[0], pair[1]));
            }
            if text(&pair[0], "createdAt") > text(&pair[1], "createdAt") {
                proof.found(Wrong::Disordered, format!("times of {} and {}", pair[0], pair[1]));
            }
        }
        let runs = runs(rows);
        let mut seen = HashSet::new();
        let mut newest_asked: Option<(Instant, &str)> = None;
        for run in &runs {
            let id = text(&run.rows[0], "id");
            let interval = match run.turn {
                Some(turn) if !seen.insert(turn) => {
                    proof.found(Wrong::Doubled, format!("turn {turn}"));
                    continue;
                }
                Some(turn) => self.check_turn(turn, run.rows, proof),
                None => self.check_boundary(id, proof),
            };
            let Some(interval) = interval else { continue };
            if let (Some((asked, before)), Some(acknowledged)) = (newest_asked, interval.acknowledged)
                && asked > acknowledged
            {
                let said = format!("{before} was asked for after {id} was acknowledged, and comes before it");
                proof.found(Wrong::Disordered, said);
            }
            if newest_asked.is_none_or(|(asked, _)| asked < interval.asked) {
                newest_asked = Some((interval.asked, id));
            }
        }
        for (turn, sent) in &self.turns {
            if sent.acknowledged.is_some() && !seen.contains(turn.as_str()) {
                proof.found(Wrong::Lost, format!("turn {turn}"));
            }
        }
        self.check_presses(&runs, proof);
    }

    fn check_turn(&self, id: &str, rows: &[Value], proof: &mut Proof) -> Option<Interval> {
        let Some(sent) = self.turns.get(id) else {
            proof.found(Wrong::Unknown, format!("turn {id}"));
            return None;
        };
        proof.turns += 1;
        sent.check(id, rows, proof);
        Some(Interval {
            asked: sent.asked,
            acknowledged: sent.acknowledged.as_ref().map(|(at, _)| *at),
        })
    }

    /// A boundary was drawn by the press that says so, or by one that was never answered.
    fn check_boundary(&self, id: &str, proof: &mut Proof) -> Option<Interval> {
        proof.boundaries += 1;
        let named: Vec<&Press> = self.presses.iter().filter(|press| press.names(id)).collect();
        let drew: Vec<&Press> = named.iter().copied().filter(|press| press.drew()).collect();
        if drew.len() > 1 {
            proof.found(Wrong::Doubled, format!("{} presses drew {id}", drew.len()));
        }
        let unanswered = self.presses.iter().filter(|press| press.acknowledged.is_none());
        let asked = match drew.first() {
            Some(press) => Some(press.asked),
            None => unanswered.map(|press| press.asked).min(),
        };
        let Some(asked) = asked else {
            proof.found(Wrong::Unknown, format!("boundary {id}"));
            return None;
        };
        Some(Interval {
            asked,
            acknowledged: named.iter().filter_map(|press| press.at()).min(),
        })
    }

    /// Every boundary that was answered is there; where none was drawn, it was the newest row at that time.
    fn check_presses(&self, runs: &[Run], proof: &mut Proof) {
        let places: HashMap<&str, usize> = (runs.iter().enumerate())
            .filter(|(_, run)| run.turn.is_none())
            .map(|(at, run)| (text(&run.rows[0], "id"), at))
            .collect();
        for press in &self.presses {
            let Some((_, drawn)) = &press.acknowledged else {
                continue;
            };
            let Some(at) = places.get(drawn.id.as_str()) else {
                proof.found(Wrong::Lost, format!("boundary {}", drawn.id));
                continue;
            };
            let next = runs.get(at + 1).and_then(|run| run.turn);
            let next = next.and_then(|turn| self.turns.get(turn)?.acknowledged.as_ref());
            if next.is_some_and(|(acknowledged, _)| *acknowledged < press.asked) {
                let said = format!("a press found {} at the end, where it was no more", drawn.id);
                proof.found(Wrong::Disordered, said);
            }
        }
        for pair in runs.windows(2) {
            if pair[0].turn.is_none() && pair[1].turn.is_none() {
                proof.found(
                    Wrong::Doubled,
                    format!("boundary {}", text(&pair[1].rows[0], "id")),
                );
            }
        }
    }
}

impl Sent {
    fn check(&self, id: &str, rows: &[Value], proof: &mut Proof) {
        if self.fresh > 1 {
            let said = format!("turn {id} was said to be new {} times", self.fresh);
            proof.found(Wrong::Doubled, said);
        }
        let same = |(row, message): (&Value, &Value)| {
            row["content"] == message["content"]
                && text(row, "role").eq_ignore_ascii_case(text(message, "role"))
        };
        let said = self.turn.messages();
        if said.len() != rows.len() || !rows.iter().zip(said).all(same) {
            proof.found(Wrong::Half, format!("turn {id}: {rows:?}"));
        }
        let ids = || rows.iter().map(|row| text(row, "id"));
        let acknowledged = self.acknowledged.as_ref();
        if self.torn || acknowledged.is_some_and(|(_, answered)| !ids().eq(answered)) {
            proof.found(Wrong::Half, format!("turn {id} has other ids than were answered"));
        }
    }
}

impl Press {
    fn names(&self, id: &str) -> bool {
        self.acknowledged
            .as_ref()
            .is_some_and(|(_, drawn)| drawn.id == id)
    }

    fn drew(&self) -> bool {
        self.acknowledged.as_ref().is_some_and(|(_, drawn)| drawn.fresh)
    }

    fn at(&self) -> Option<Instant> {
        self.acknowledged.as_ref().map(|(at, _)| *at)
    }
}

/// Neighbouring rows of one turn belong together; a boundary stands alone.
fn runs(rows: &[Value]) -> Vec<Run<'_>> {
    let together = |one: &Value, next: &Value| one["turnId"].is_string() && one["turnId"] == next["turnId"];
    rows.chunk_by(together)
        .map(|rows| Run {
            turn: rows[0]["turnId"].as_str(),
            rows,
        })
        .collect()
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().expect("a text")
}
