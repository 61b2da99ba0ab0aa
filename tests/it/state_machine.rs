//! The whole of writing and reading against a plain model: vectors of rows.
//!
//! Random sequences of turns, resets, compactions and pages run through the gateway and through the model, which
//! must agree after every step. `tests/run --long state_machine` runs 10,000 of them on each database.

mod check;
mod model;
mod run;
mod step;

use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::collection::vec;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use tokio::runtime::Handle;
use tokio::task::block_in_place;

use self::run::Run;
use self::step::step;
use crate::support::{Database, on_both, rounds};

on_both! {
    a_store_and_a_vector_of_rows_cannot_be_told_apart,
}

async fn a_store_and_a_vector_of_rows_cannot_be_told_apart(db: &Database) {
    let gateway = db.gateway().await;
    let sequences = AtomicUsize::new(0);
    let config = Config {
        cases: u32::try_from(rounds(40, 10_000)).unwrap(),
        max_shrink_iters: 500,
        failure_persistence: None,
        ..Config::default()
    };
    let result = TestRunner::new(config).run(&vec(step(), 1..40), |steps| {
        // Each sequence has an agent of its own, so they need not share a beginning.
        let agent = format!("agent {}", sequences.fetch_add(1, Ordering::Relaxed));
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
        block_in_place(|| Handle::current().block_on(sequence)).map_err(TestCaseError::fail)
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}
