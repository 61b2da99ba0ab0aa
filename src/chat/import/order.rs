//! The turns of one thread side by side: none inside another, and time never goes back along them.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::{ImportError, place::Placed};
use crate::chat::{id::MessageId, model::Boundary};

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
    boundaries: Vec<Drawn>,
}

/// A boundary of an input.
struct Drawn {
    id: MessageId,
    /// The last message that a compaction covers; a reset covers everything before itself.
    through: Option<MessageId>,
    line: u64,
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

    pub(super) fn draw(&mut self, placed: &Placed, boundary: &Boundary) {
        self.add(Span::of(placed));
        self.boundaries.push(Drawn {
            id: placed.message.id,
            through: boundary.summary().and(boundary.through),
            line: placed.line,
        });
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
        self.check_boundaries()
    }

    /// Checks that each boundary goes through to the end of a turn, and further than the one before.
    fn check_boundaries(&mut self) -> Result<(), ImportError> {
        self.boundaries.sort_unstable_by_key(|drawn| drawn.id);
        let mut covered = None;
        for drawn in &self.boundaries {
            let refuse = |what: &str| {
                Err(ImportError::bad(
                    drawn.line,
                    format!("boundary.throughMessageId {what}"),
                ))
            };
            let Some(through) = drawn.through else {
                covered = Some(drawn.id);
                continue;
            };
            if through >= drawn.id {
                return refuse("comes after the boundary");
            }
            if covered.is_some_and(|covered| through <= covered) {
                return refuse("does not go beyond what the boundary before covers");
            }
            let at = self.spans.partition_point(|span| span.last < through.0);
            if self
                .spans
                .get(at)
                .is_some_and(|span| span.first <= through.0 && through.0 < span.last)
            {
                return refuse("has to be the last message of a turn");
            }
            covered = Some(through);
        }
        Ok(())
    }
}
