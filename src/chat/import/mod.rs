//! History that was made elsewhere, or here at another time: JSON Lines in, whole turns out.
//!
//! An input is read twice. The first time ([`Check`]) every line is checked by itself and against the others, and
//! what is kept of it is where turns end and in which order they lie. The second time ([`Turns`]) the lines become
//! whole turns. So memory holds the turns that are being read, and a fixed number of bytes for every message that was.

mod check;
mod fields;
mod line;
mod order;
mod place;
mod turns;

use chrono::{DateTime, TimeDelta, Utc};

use super::{
    clock::Clock,
    error::Error,
    id::{MessageId, ThreadId},
    model::{Message, ThreadKey},
    turn::WriteLimits,
};

pub use check::{Check, Plan};
pub use turns::Turns;

/// How far ahead of this clock another may have been.
const CLOCK_SKEW: TimeDelta = TimeDelta::minutes(1);

/// A whole turn, or a boundary, that lands in a thread's past with the ids and times it has.
#[derive(Clone, Debug)]
pub struct ImportedTurn {
    /// The line that its first message stands in; 0 when it was not read from lines.
    pub line: u64,
    /// The thread's key; a thread that has it is joined.
    pub key: ThreadKey,
    /// The thread's id, should it have to be made.
    pub thread_id: ThreadId,
    /// When the thread began, should it have to be made.
    pub thread_created_at: DateTime<Utc>,
    /// The messages of one turn in their order, or one boundary; `thread_id` and `in_context` in them do not count.
    pub messages: Vec<Message>,
}

impl ImportedTurn {
    /// The turn's id; none when this is a boundary.
    #[must_use]
    pub fn turn_id(&self) -> Option<&str> {
        self.messages.first()?.turn.as_ref().map(|turn| turn.id.as_str())
    }

    /// The first message's id.
    #[must_use]
    pub fn first_id(&self) -> Option<MessageId> {
        self.messages.first().map(|message| message.id)
    }

    /// The last message's id.
    #[must_use]
    pub fn last_id(&self) -> Option<MessageId> {
        self.messages.last().map(|message| message.id)
    }
}

/// What an input may hold.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// How large its messages and turns may be.
    pub limits: WriteLimits,
    /// No time in it is later than this.
    pub latest: DateTime<Utc>,
    /// Stands for the team: two teams may have threads of one key, and those need two ids.
    pub team: [u8; 16],
}

impl Rules {
    /// The rules of an input that is read now.
    #[must_use]
    pub fn new(team_id: &str, limits: WriteLimits, clock: &Clock) -> Self {
        Self {
            limits,
            latest: clock.now() + CLOCK_SKEW,
            team: place::digest(&[team_id.as_bytes()]),
        }
    }
}

/// What is wrong with a line of an input.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct ImportError {
    /// The line's number, the first is 1.
    pub line: u64,
    /// What is wrong with it.
    pub what: Error,
}

impl ImportError {
    fn bad(line: u64, message: impl Into<String>) -> Self {
        Self {
            line,
            what: Error::bad_input(message),
        }
    }
}

#[cfg(test)]
mod tests;
