//! Who talks to whom, when, and how much.

use chrono::{DateTime, TimeDelta, Utc};
use rand::{Rng, SeedableRng, rngs::StdRng, seq::IndexedRandom};

use super::{SPAN, Sizes, shape::Shape, texts};
use crate::chat::{
    content::Content,
    id::{self, MessageId, ThreadId},
    import::ImportedTurn,
    model::{Boundary, BoundaryReason, Message, Outcome, Role, ThreadKey, TurnRef},
};

/// Every how many messages the autonomous thread is compacted.
const COMPACTED_AFTER: u64 = 150;

/// The longest pause inside a turn.
const MOST_SECONDS_BETWEEN: i64 = 20;

/// The whole sample, played thread by thread.
pub(super) struct Script {
    rng: StdRng,
    sizes: Sizes,
    seed: u64,
    start: DateTime<Utc>,
}

/// A thread that is being written.
struct Scene<'a> {
    rng: &'a mut StdRng,
    key: ThreadKey,
    thread_id: ThreadId,
    begins: DateTime<Utc>,
    /// Where the next turn may lie.
    now: DateTime<Utc>,
    /// How many microseconds a message has.
    pace: i64,
    left: u64,
    turns: u64,
    since_boundary: u64,
    last: Option<MessageId>,
}

impl Script {
    pub(super) fn new(sizes: Sizes, seed: u64, start: DateTime<Utc>) -> Self {
        Self {
            rng: StdRng::seed_from_u64(seed),
            sizes,
            seed,
            start,
        }
    }

    /// Gives every turn to `take`, until it wants no more.
    pub(super) fn play(mut self, mut take: impl FnMut(ImportedTurn) -> bool) {
        let longest = longest_key(self.sizes, self.seed);
        let begins = self.start;
        let messages = self.sizes.longest;
        let mut wanted = self.scene(longest, begins, messages).play(&mut take);
        for (index, messages) in self.shares().into_iter().enumerate() {
            if !wanted {
                return;
            }
            let key = self.key(index);
            let latest = SPAN.num_seconds() * 9 / 10;
            let begins = self.start + TimeDelta::seconds(self.rng.random_range(60..latest));
            wanted = self.scene(key, begins, messages).play(&mut take);
        }
    }

    /// A thread's scene; it ends before the sample's end.
    fn scene(&mut self, key: ThreadKey, begins: DateTime<Utc>, messages: u64) -> Scene<'_> {
        let time = self.start + SPAN - begins;
        // One share more than there are messages, so that the last ends before the present.
        let shares = i64::try_from(messages + 1).unwrap_or(i64::MAX);
        let pace = time.num_microseconds().unwrap_or(i64::MAX) / shares;
        Scene {
            thread_id: ThreadId(id::at(begins, self.rng.random())),
            rng: &mut self.rng,
            key,
            begins,
            now: begins,
            pace,
            left: messages,
            turns: 0,
            since_boundary: 0,
            last: None,
        }
    }

    /// How many messages each of the other threads has: at least one, and a few have many.
    fn shares(&mut self) -> Vec<u64> {
        let others = self.sizes.threads - 1;
        let spare = self.sizes.messages - self.sizes.longest - others;
        let weights: Vec<f64> = (0..others)
            .map(|_| self.rng.random_range(0.1_f64..1.0).powi(3))
            .collect();
        let all: f64 = weights.iter().sum();
        let mut left = spare;
        let mut shares: Vec<u64> = weights
            .iter()
            .map(|weight| {
                // Rounded down, so the sum is never too large.
                let share = ((weight / all) * spare as f64) as u64;
                let share = share.min(left);
                left -= share;
                share + 1
            })
            .collect();
        for share in &mut shares {
            let more = left.min(1 + spare / others.max(1));
            *share += more;
            left -= more;
        }
        shares
    }

    fn key(&mut self, index: usize) -> ThreadKey {
        let [agent, channel] = *[
            ["support", "widget"],
            ["support", "widget"],
            ["support", "telegram"],
            ["sales", "widget"],
            ["sales", "api"],
            ["research", "api"],
        ]
        .choose(&mut self.rng)
        .unwrap_or(&["support", "widget"]);
        let name = texts::pick(&mut self.rng, texts::NAMES);
        ThreadKey {
            agent_id: agent.to_owned(),
            channel: channel.to_owned(),
            person_id: format!("{name}-{index}-{}", tag(self.sizes, self.seed)),
        }
    }
}

impl Scene<'_> {
    fn play(mut self, take: &mut impl FnMut(ImportedTurn) -> bool) -> bool {
        while self.left > 0 {
            let turn = self.next();
            if !take(turn) {
                return false;
            }
        }
        true
    }

    fn is_autonomous(&self) -> bool {
        self.key.person_id.starts_with(texts::AUTONOMOUS)
    }

    fn next(&mut self) -> ImportedTurn {
        let line_due = match self.is_autonomous() {
            true => self.since_boundary >= COMPACTED_AFTER,
            false => self.since_boundary >= 6 && self.rng.random_ratio(1, 12),
        };
        let messages = match self.last {
            Some(last) if line_due => self.boundary(last),
            _ => self.turn(),
        };
        self.left -= messages.len() as u64;
        self.last = messages.last().map(|message| message.id);
        ImportedTurn {
            line: 0,
            key: self.key.clone(),
            thread_id: self.thread_id,
            thread_created_at: self.begins,
            messages,
        }
    }

    fn turn(&mut self) -> Vec<Message> {
        let shape = Shape::draw(self.rng, self.is_autonomous(), self.left);
        let said = shape.write(self.rng, &self.key.agent_id);
        let count = said.len();
        self.turns += 1;
        self.since_boundary += count as u64;
        let turn = TurnRef {
            id: format!("demo-{}", self.turns),
            outcome: shape.outcome(),
        };
        let rows = self.rows(count);
        let messages = rows.into_iter().zip(said).enumerate();
        messages
            .map(|(index, (row, (role, content)))| Message {
                turn: Some(turn.clone()),
                role,
                tokens: (role == Role::Assistant).then(|| texts::tokens(&content)),
                content: Content::stored(content),
                stopped: turn.outcome == Outcome::Stopped && index + 1 == count,
                ..row
            })
            .collect()
    }

    fn boundary(&mut self, last: MessageId) -> Vec<Message> {
        self.since_boundary = 0;
        let reason = if self.is_autonomous() || self.rng.random_ratio(1, 2) {
            BoundaryReason::Compaction {
                summary: texts::summary(self.rng, &self.key.agent_id),
            }
        } else {
            BoundaryReason::Reset
        };
        let mut rows = self.rows(1);
        for row in &mut rows {
            row.boundary = Some(Boundary {
                reason: reason.clone(),
                through: Some(last),
            });
        }
        rows
    }

    /// The next rows, with nothing said in them: close together, somewhere in the time that they share.
    fn rows(&mut self, count: usize) -> Vec<Message> {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let time = self.pace.max(4) * count;
        let mut at = self.now + TimeDelta::microseconds(self.rng.random_range(0..time / 2));
        self.now += TimeDelta::microseconds(time);
        let longest_gap = (time / 2 / count).min(MOST_SECONDS_BETWEEN * 1_000_000);
        let row = |_| {
            at += TimeDelta::microseconds(self.rng.random_range(1..=longest_gap));
            Message {
                id: MessageId(id::at(at, self.rng.random())),
                thread_id: self.thread_id,
                turn: None,
                role: Role::System,
                content: Content::empty(),
                tokens: None,
                stopped: false,
                late: false,
                boundary: None,
                in_context: false,
                created_at: at,
            }
        };
        (0..count).map(row).collect()
    }
}

/// The key of the autonomous thread, the first one that is written.
pub(super) fn longest_key(sizes: Sizes, seed: u64) -> ThreadKey {
    ThreadKey {
        agent_id: "research".to_owned(),
        channel: "api".to_owned(),
        person_id: format!("{}-{}", texts::AUTONOMOUS, tag(sizes, seed)),
    }
}

/// Keeps the persons of different samples apart.
fn tag(sizes: Sizes, seed: u64) -> String {
    let numbers = [sizes.messages, sizes.threads, sizes.longest, seed].map(u64::to_be_bytes);
    let hash = blake3::hash(&numbers.concat()).to_hex();
    hash[..4].to_owned()
}
