//! The turns of one thread side by side: none inside another, and time never goes back along them.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::{ImportError, place::Placed};
use crate::chat::id::MessageId;

/// Where a turn lies in its thread.
#[derive(Clone, Copy)]
pub(super) struct Span {
    pub first: Uuid,
    pub last: Uuid,
    pub begins: DateTime<Utc>,
    pub ends: DateTime<Utc>,
    pub line: u64,
}

/// The turns and boundaries of an input that belong to one thread.
#[derive(Default)]
pub(super) struct Line {
    spans: Vec<Span>,
    /// The messages through which compactions go, and the lines that say so.
    pub through: Vec<(MessageId, u64)>,
}

impl Span {
    pub(super) fn of(placed: &Placed) -> Self {
        let message = &placed.message;
        Self {
            first: message.id.0,
            last: message.id.0,
            begins: message.created_at,
            ends: message.created_at,
            line: placed.line,
        }
    }
}

impl Line {
    pub(super) fn add(&mut self, span: Span) {
        self.spans.push(span);
    }

    /// Checks the turns in the order in which they will be read.
    pub(super) fn check(mut self) -> Result<(), ImportError> {
        self.spans.sort_unstable_by_key(|span| span.first);
        for pair in self.spans.windows(2) {
            let [before, after] = pair else { continue };
            let (early, late) = (before.line.min(after.line), before.line.max(after.line));
            if after.first <= before.last {
                return Err(ImportError::bad(
                    late,
                    format!("by its ids the turn lies inside or across the turn of line {early}"),
                ));
            }
            if after.begins < before.ends {
                return Err(ImportError::bad(
                    late,
                    format!(
                        "by the ids and times of this turn and that of line {early}, createdAt goes back"
                    ),
                ));
            }
        }
        for (through, line) in self.through {
            let at = self.spans.partition_point(|span| span.last < through.0);
            if self
                .spans
                .get(at)
                .is_some_and(|span| span.first <= through.0 && through.0 < span.last)
            {
                return Err(ImportError::bad(
                    line,
                    "boundary.throughMessageId has to be the last message of a turn",
                ));
            }
        }
        Ok(())
    }
}
