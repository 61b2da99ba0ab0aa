//! A server that is asked to end answers what it has begun, loses nothing that it acknowledged, and ends soon (R16).

use std::time::{Duration, Instant};

use futures::future::{join, join_all};

use super::lock;
use crate::support::{Database, Ended, Key, Ledger, Process, Turn, figures, on_both, rounds, rows::Rows};

on_both! {
    a_server_that_is_asked_to_end_loses_nothing_that_it_acknowledged,
    a_server_that_cannot_finish_what_it_has_begun_ends_all_the_same,
}

const IN_FLIGHT: usize = 200;

/// The drain timeout, and what a loaded machine adds.
const SOON: Duration = Duration::from_secs(15);

fn turn(round: usize, n: usize, task: usize) -> (Key, Turn) {
    let name = format!("{round}.{task}.{n}");
    (
        Key::of(&format!("p{}", task % 20)),
        Turn::of_texts(&name, &["a", "b", "c"]),
    )
}

async fn a_server_that_is_asked_to_end_loses_nothing_that_it_acknowledged(db: &Database) {
    let began = Instant::now();
    let ledger = Ledger::default();
    let rounds = rounds(2, 20);
    let (mut sent, mut slowest) = (0, Duration::ZERO);
    for round in 0..rounds {
        let mut server = Process::patient(db).await;
        let client = server.client().clone();
        // Every other round nothing can go on until the server is ending, so that all of it is in flight then.
        let held = round % 2 == 0;
        let rows = Rows::of(db).await;
        if held {
            rows.run(lock(db.backend)).await;
        }
        let (ledger, client) = (&ledger, &client);
        let writers = join_all((0..IN_FLIGHT).map(|task| async move {
            for n in 0.. {
                let (key, turn) = turn(round, n, task);
                if !ledger.append(client, &key, &turn).await.is_certain() {
                    return n + 1;
                }
            }
            unreachable!("a server that ends answers no more")
        }));
        let ending = async {
            tokio::time::sleep(Duration::from_millis(1_000)).await;
            server.ask_to_end();
            let asked = Instant::now();
            if held {
                tokio::time::sleep(Duration::from_millis(300)).await;
                rows.run("ROLLBACK").await;
            }
            let status = server.ended().await;
            assert!(status.success(), "{status}: {}", server.output());
            asked.elapsed()
        };
        let acknowledged = ledger.acknowledged();
        let (written, took) = join(writers, ending).await;
        assert!(
            ledger.acknowledged() > acknowledged,
            "what had begun was answered"
        );
        assert!(took < SOON, "it took {took:?}");
        sent += written.into_iter().sum::<usize>();
        slowest = slowest.max(took);
    }
    let server = Process::start(db, &[]).await;
    let proof = ledger.prove(&server).await;
    let mut counted = vec![
        ("operations", sent),
        ("stops", rounds),
        ("acknowledged", ledger.acknowledged()),
        ("stored", proof.turns),
        ("slowest_exit_ms", usize::try_from(slowest.as_millis()).unwrap()),
    ];
    counted.extend(proof.figures());
    figures::report("R16", db, began, &counted);
    proof.assert_holds();
}

async fn a_server_that_cannot_finish_what_it_has_begun_ends_all_the_same(db: &Database) {
    let ledger = Ledger::default();
    let mut server = Process::start(
        db,
        &[
            "--limits-drain-timeout=1s",
            "--database-lock-timeout=60s",
            "--database-statement-timeout=60s",
        ],
    )
    .await;
    let client = server.client().clone();
    let rows = Rows::of(db).await;
    rows.run(lock(db.backend)).await;
    let writers = join_all((0..10).map(|task| {
        let (ledger, client) = (&ledger, &client);
        async move {
            let (key, turn) = turn(0, 0, task);
            ledger.append(client, &key, &turn).await
        }
    }));
    let ending = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        server.ask_to_end();
        let asked = Instant::now();
        server.ended().await;
        asked.elapsed()
    };
    let (ended, took) = join(writers, ending).await;
    assert!(took < Duration::from_secs(10), "it took {took:?}");
    assert!(ended.iter().all(|ended| *ended == Ended::Unanswered), "{ended:?}");
    rows.run("ROLLBACK").await;
    let server = Process::start(db, &[]).await;
    ledger.prove(&server).await.assert_holds();
}
