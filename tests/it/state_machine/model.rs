//! What the contract says, over vectors.

use threadline::chat::id::MessageId;
use threadline::chat::model::Outcome;

/// A thread as rows in reading order.
#[derive(Clone, Debug, Default)]
pub struct Thread {
    pub rows: Vec<Row>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub id: MessageId,
    pub what: What,
}

#[derive(Clone, Debug, PartialEq)]
pub enum What {
    Said {
        turn: u8,
        outcome: Outcome,
        number: usize,
        stopped: bool,
        late: bool,
    },
    Reset,
    /// Through the row of this index.
    Compaction(usize),
}

/// What an append has to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Expected {
    /// New rows at the end; their ids are the store's to choose.
    Store {
        late: bool,
    },
    /// The stored rows again.
    Replay(Vec<MessageId>),
    Nothing,
    Conflict,
}

impl Thread {
    pub fn append(
        &self,
        turn: u8,
        messages: usize,
        outcome: Option<Outcome>,
        began: Option<usize>,
    ) -> Expected {
        let stored: Vec<&Row> = self.rows.iter().filter(|row| row.turn() == Some(turn)).collect();
        match (stored.first().map(|row| &row.what), outcome) {
            (None, None) => Expected::Nothing,
            (None, Some(_)) => {
                let newest_reset = self.rows.iter().rposition(|row| row.what == What::Reset);
                Expected::Store {
                    late: newest_reset.is_some_and(|reset| began.is_none_or(|began| began < reset)),
                }
            }
            (Some(What::Said { outcome: was, .. }), Some(is)) if *was == is && stored.len() == messages => {
                Expected::Replay(stored.iter().map(|row| row.id).collect())
            }
            _ => Expected::Conflict,
        }
    }

    /// Whether a compaction may go through the row of an index.
    pub fn may_compact(&self, at: usize) -> bool {
        let ends_a_turn = self.rows[at].turn().is_some()
            && self.rows[at].turn() != self.rows.get(at + 1).and_then(Row::turn);
        ends_a_turn && self.line().is_none_or(|line| at > line)
    }

    /// The index of the newest boundary.
    pub fn boundary(&self) -> Option<usize> {
        self.rows.iter().rposition(|row| row.turn().is_none())
    }

    /// The index of the last row that the newest boundary takes out of the context.
    pub fn line(&self) -> Option<usize> {
        let boundary = self.boundary()?;
        match self.rows[boundary].what {
            What::Compaction(through) => Some(through),
            _ => Some(boundary),
        }
    }

    pub fn in_context(&self, at: usize) -> bool {
        let said_now = matches!(self.rows[at].what, What::Said { late: false, .. });
        said_now && self.line().is_none_or(|line| at > line)
    }

    /// The rows given to the model within a budget, and whether something did not fit.
    pub fn context(&self, max_tokens: Option<i64>, limit: usize) -> (Vec<MessageId>, bool) {
        let given: Vec<&Row> = (0..self.rows.len())
            .filter(|at| self.in_context(*at))
            .map(|at| &self.rows[at])
            .collect();
        let mut start = given.len();
        while start > 0 {
            let turn = given[start - 1].turn();
            let turn_start = given[..start]
                .iter()
                .rposition(|row| row.turn() != turn)
                .map_or(0, |at| at + 1);
            let tokens: i64 = given[turn_start..].iter().map(|row| row.tokens()).sum();
            if given.len() - turn_start > limit
                || max_tokens.is_some_and(|max| tokens + self.summary_tokens() > max)
            {
                break;
            }
            start = turn_start;
        }
        (given[start..].iter().map(|row| row.id).collect(), start > 0)
    }

    /// What the summary of the newest boundary counts: one token, for 4 bytes of text; see [`SUMMARY`].
    fn summary_tokens(&self) -> i64 {
        match self.boundary().map(|at| &self.rows[at].what) {
            Some(What::Compaction(_)) => 1,
            _ => 0,
        }
    }
}

/// The summary of every compaction here.
pub const SUMMARY: &str = "told";

impl Row {
    pub fn turn(&self) -> Option<u8> {
        match self.what {
            What::Said { turn, .. } => Some(turn),
            _ => None,
        }
    }

    pub fn tokens(&self) -> i64 {
        match self.what {
            What::Said { number, .. } => i64::from(tokens(number)),
            _ => 0,
        }
    }
}

/// What the message of this number in its turn says that it cost.
pub fn tokens(number: usize) -> i32 {
    i32::try_from(number % 4).expect("less than 4")
}
