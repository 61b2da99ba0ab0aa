//! The whole of writing and reading against a plain model: vectors of rows.
//!
//! Random sequences of turns, resets, compactions and pages run through the gateway and through the model, which
//! must agree after every step. `tests/run --long state_machine` runs 10,000 of them on each database.

mod check;
mod model;
mod run;
mod step;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use futures::future::join_all;
use proptest::collection::vec;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use threadline::chat::gateway::Gateway;
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

use self::run::Run;
use self::step::step;
use crate::support::{Database, figures, on_both, rounds};

on_both! {
    a_store_and_a_vector_of_rows_cannot_be_told_apart,
}

/// How many sequences run at once: while one waits for the disk, another computes.
const LANES: usize = 4;

/// How many sequences and steps were run, over all lanes.
#[derive(Default)]
struct Count {
    sequences: AtomicUsize,
    steps: AtomicUsize,
}

async fn a_store_and_a_vector_of_rows_cannot_be_told_apart(db: &Database) {
    let began = Instant::now();
    let gateway = db.gateway().await;
    let count = Arc::new(Count::default());
    let lanes = (0..LANES).map(|_| {
        let (gateway, count) = (gateway.clone(), Arc::clone(&count));
        spawn_blocking(move || run_sequences(&gateway, &count))
    });
    for lane in join_all(lanes).await {
        lane.unwrap();
    }
    let figures = [
        ("sequences", count.sequences.load(Ordering::Relaxed)),
        ("operations", count.steps.load(Ordering::Relaxed)),
        ("wrong", 0),
    ];
    figures::report("R8", db, began, &figures);
}

fn run_sequences(gateway: &Gateway, count: &Count) {
    let config = Config {
        cases: u32::try_from(rounds(40, 10_000) / LANES).unwrap(),
        max_shrink_iters: 500,
        failure_persistence: None,
        ..Config::default()
    };
    let result = TestRunner::new(config).run(&vec(step(), 1..40), |steps| {
        // Each sequence has an agent of its own, so they need not share a beginning.
        let agent = format!("agent {}", count.sequences.fetch_add(1, Ordering::Relaxed));
        count.steps.fetch_add(steps.len(), Ordering::Relaxed);
        let sequence = async {
            let mut run = Run::new(gateway.clone(), agent);
            for step in &steps {
                run.take(step)
                    .await
                    .map_err(|wrong| format!("{step:?}: {wrong}"))?;
            }
            run.check_everything()
                .await
                .map_err(|wrong| format!("at the end: {wrong}"))
        };
        Handle::current().block_on(sequence).map_err(TestCaseError::fail)
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}
