//! Where a line belongs: its thread, and the ids that it did not bring.

use std::collections::{BTreeMap, HashMap, HashSet};

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::{
    ImportError, Rules,
    line::{Line, MessageLine, Said, ThreadLine},
};
use crate::chat::{
    content::Content,
    error::{Error, Result},
    id::{self, MessageId, ThreadId},
    model::{Message, Role, ThreadKey, TurnRef},
};

/// How many bits of a made id tell the lines of one instant apart; the others are a hash.
const ORDINAL_BITS: u32 = 20;
const FILL_BITS: u32 = 62;

/// 16 bytes of a hash that stand for a name of any length.
pub(super) type Digest = [u8; 16];

/// A message with its thread and all its ids.
pub(super) struct Placed {
    pub line: u64,
    /// The thread's key, as a hash.
    pub thread: Digest,
    pub key: ThreadKey,
    pub thread_id: ThreadId,
    pub thread_created_at: DateTime<Utc>,
    pub message: Message,
    /// Whether the line said that it was stopped.
    pub stopped: Option<bool>,
}

/// Reads lines one after another and knows the threads that came by.
pub(super) struct Reader {
    rules: Rules,
    line: u64,
    threads: HashMap<Digest, Known>,
    thread_ids: HashSet<Uuid>,
}

/// A thread as far as it is known.
#[derive(Default)]
struct Known {
    declared: Option<(Option<ThreadId>, Option<DateTime<Utc>>)>,
    made: Option<(ThreadId, DateTime<Utc>)>,
    /// How many lines without an id had this microsecond.
    instants: BTreeMap<i64, u64>,
}

impl Reader {
    pub(super) fn new(rules: Rules) -> Self {
        Self {
            rules,
            line: 0,
            threads: HashMap::new(),
            thread_ids: HashSet::new(),
        }
    }

    /// Reads the next line; nothing comes of an empty one and of a thread's own.
    pub(super) fn read(&mut self, text: &[u8]) -> Result<Option<Placed>, ImportError> {
        self.line += 1;
        if text.trim_ascii().is_empty() {
            return Ok(None);
        }
        let placed = match Line::parse(text, &self.rules) {
            Ok(Line::Thread(thread)) => self.declare(thread).map(|()| None),
            Ok(Line::Message(message)) => self.place(*message).map(Some),
            Err(error) => Err(error),
        };
        placed.map_err(|what| ImportError {
            line: self.line,
            what,
        })
    }

    fn declare(&mut self, line: ThreadLine) -> Result<()> {
        let known = self.threads.entry(digest_key(&line.key)).or_default();
        let said = (line.id, line.created_at);
        match known.declared {
            Some(before) if before != said => Err(Error::bad_input(
                "this thread had a line before, with another id or createdAt",
            )),
            None if known.made.is_some() => Err(Error::bad_input(
                "a thread's line stands before the lines of its messages",
            )),
            _ => {
                known.declared = Some(said);
                Ok(())
            }
        }
    }

    fn place(&mut self, line: MessageLine) -> Result<Placed> {
        let thread = digest_key(&line.key);
        let known = self.threads.entry(thread).or_default();
        let (thread_id, thread_created_at) = match known.made {
            Some(made) => made,
            None => {
                let made = known.make(digest(&[&self.rules.team, &thread]), line.created_at);
                if !self.thread_ids.insert(made.0.0) {
                    return Err(Error::bad_input("another thread had this thread's id before"));
                }
                made
            }
        };
        let (id, ordinal) = match line.id {
            Some(id) => (id, 0),
            None => known.next_id(&line)?,
        };
        let (message, stopped) = message(&line, thread_id, id, ordinal);
        Ok(Placed {
            line: self.line,
            thread,
            key: line.key,
            thread_id,
            thread_created_at,
            message,
            stopped,
        })
    }
}

impl Known {
    /// Gives the thread its id and time, at its first message.
    fn make(&mut self, hash: Digest, first_message_at: DateTime<Utc>) -> (ThreadId, DateTime<Utc>) {
        let (id, created_at) = self.declared.unwrap_or_default();
        let created_at = created_at
            .or(id.map(|id| id::time_of(id.0)))
            .unwrap_or(first_message_at);
        let id = id.unwrap_or_else(|| ThreadId(id::at(created_at, fill(&hash))));
        *self.made.insert((id, created_at))
    }

    /// An id for a line without one: its time, then how many of that time came before it, then a hash of it.
    fn next_id(&mut self, line: &MessageLine) -> Result<(MessageId, u64)> {
        let count = self
            .instants
            .entry(line.created_at.timestamp_micros())
            .or_default();
        let ordinal = *count;
        *count += 1;
        if ordinal >> ORDINAL_BITS != 0 {
            return Err(Error::bad_input(
                "a thread has at most 1048576 messages without an id at one createdAt",
            ));
        }
        let hash = digest(&[line.canonical.as_deref().unwrap_or_default().as_bytes()]);
        let hash_bits = FILL_BITS - ORDINAL_BITS;
        let fill = (ordinal << hash_bits) | (fill(&hash) >> (u64::BITS - hash_bits));
        Ok((MessageId(id::at(line.created_at, fill)), ordinal))
    }
}

fn message(line: &MessageLine, thread_id: ThreadId, id: MessageId, ordinal: u64) -> (Message, Option<bool>) {
    let row = Message {
        id,
        thread_id,
        turn: None,
        role: Role::System,
        content: Content::empty(),
        tokens: None,
        stopped: false,
        late: false,
        boundary: None,
        in_context: false,
        created_at: line.created_at,
    };
    match &line.said {
        Said::Boundary(boundary) => {
            let boundary = Some(boundary.clone());
            (Message { boundary, ..row }, None)
        }
        Said::Message(said) => {
            let turn_id = said.turn_id.clone().unwrap_or_else(|| {
                let line = line.canonical.as_deref().unwrap_or_default().as_bytes();
                format!(
                    "import-{:032x}",
                    u128::from_be_bytes(digest(&[line, &ordinal.to_be_bytes()]))
                )
            });
            let row = Message {
                turn: Some(TurnRef {
                    id: turn_id,
                    outcome: said.outcome,
                }),
                role: said.role,
                content: said.content.clone(),
                tokens: said.tokens,
                late: said.late,
                ..row
            };
            (row, said.stopped)
        }
    }
}

/// A hash of names one after another, so that no two lists of names have the same.
pub(super) fn digest(names: &[&[u8]]) -> Digest {
    let mut hash = blake3::Hasher::new();
    for name in names {
        hash.update(&(name.len() as u64).to_be_bytes());
        hash.update(name);
    }
    let mut digest = Digest::default();
    hash.finalize_xof().fill(&mut digest);
    digest
}

fn digest_key(key: &ThreadKey) -> Digest {
    digest(&[
        key.agent_id.as_bytes(),
        key.channel.as_bytes(),
        key.person_id.as_bytes(),
    ])
}

fn fill(digest: &Digest) -> u64 {
    let (first, _) = digest.split_first_chunk().expect("16 bytes begin with 8");
    u64::from_be_bytes(*first)
}
