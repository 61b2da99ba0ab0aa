//! What can happen to an agent's threads.

use proptest::prelude::{Just, Strategy, any, prop_oneof};
use threadline::chat::model::Outcome;

/// How many threads a sequence writes to.
pub const THREADS: usize = 3;

#[derive(Clone, Debug)]
pub enum Step {
    Append {
        thread: usize,
        turn: u8,
        messages: usize,
        outcome: Option<Outcome>,
        began: Began,
    },
    Reset {
        thread: usize,
    },
    /// Compacts through the row at this share of the thread, whatever row that is.
    Compact {
        thread: usize,
        at: f64,
    },
    /// Begins to walk back through a list, or all of the agent's.
    Open {
        thread: Option<usize>,
        limit: i64,
    },
    /// Reads the next page of the walk, whatever was written since.
    Continue {
        limit: i64,
    },
    Context {
        thread: usize,
        max_tokens: Option<i64>,
        limit: i64,
    },
}

/// Under which boundary a turn says that it began; a share names one of those there.
#[derive(Clone, Debug)]
pub enum Began {
    Now,
    NoBoundary,
    Boundary(f64),
}

pub fn step() -> impl Strategy<Value = Step> {
    let thread = 0..THREADS;
    prop_oneof![
        8 => (thread.clone(), 0..60u8, turn_size(), outcome(), began()).prop_map(
            |(thread, turn, messages, outcome, began)| Step::Append { thread, turn, messages, outcome, began }
        ),
        2 => thread.clone().prop_map(|thread| Step::Reset { thread }),
        2 => (thread.clone(), 0.0..1.0).prop_map(|(thread, at)| Step::Compact { thread, at }),
        1 => (proptest::option::of(thread.clone()), limit()).prop_map(|(thread, limit)| Step::Open { thread, limit }),
        3 => limit().prop_map(|limit| Step::Continue { limit }),
        2 => (thread, proptest::option::of(1..200i64), limit())
            .prop_map(|(thread, max_tokens, limit)| Step::Context { thread, max_tokens, limit }),
    ]
}

fn turn_size() -> impl Strategy<Value = usize> {
    prop_oneof![6 => 1..6usize, 1 => 48..53usize, 1 => 98..101usize]
}

fn limit() -> impl Strategy<Value = i64> {
    prop_oneof![4 => 1..8i64, 1 => 49..52i64, 1 => 199..203i64, 1 => Just(i64::MAX)]
}

fn outcome() -> impl Strategy<Value = Option<Outcome>> {
    prop_oneof![6 => Just(Some(Outcome::Completed)), 2 => Just(Some(Outcome::Stopped)), 1 => Just(None)]
}

fn began() -> impl Strategy<Value = Began> {
    prop_oneof![
        6 => Just(Began::Now),
        2 => Just(Began::NoBoundary),
        2 => any::<u16>().prop_map(|share| Began::Boundary(f64::from(share) / 65_536.0)),
    ]
}
