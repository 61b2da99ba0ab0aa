//! A connection that is reset in the middle of COMMIT (R12): nobody knows whether it was stored, until the same turn is
//! sent again.

use std::time::{Duration, Instant};

use super::stored;
use crate::support::wire::Wire;
use crate::support::{Backend, Key, TestServer, Turn, figures, rounds, with_database};

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_whose_commit_was_cut_is_never_acknowledged_and_stored_once_when_it_is_sent_again() {
    with_database(Backend::Postgres, async |database| {
        let began = Instant::now();
        let wire = Wire::to(database).await;
        let server = TestServer::start_over(database.gateway_at(wire.url()).await).await;
        let key = Key::of("p");
        let commits = rounds(20, 500);
        let (mut stored_at_once, mut slowest) = (0, Duration::ZERO);
        let mut acknowledged = Vec::new();
        for n in 0..commits {
            let turn = Turn::of_texts(&format!("t{n}"), &["a"; stored::MESSAGES]);
            wire.break_commits(1);
            let asked = Instant::now();
            let answer = server.try_append(&key, &turn).await;
            assert_eq!(answer.code(), "SERVICE_UNAVAILABLE", "an outcome nobody knows");
            assert_eq!(wire.broken_commits(), n + 1);
            let again = server.append(&key, &turn).await;
            slowest = slowest.max(asked.elapsed());
            // Every other one was cut when the database had it already.
            assert_eq!(again["replayed"], n % 2 == 1, "turn {n}");
            stored_at_once += n % 2;
            acknowledged.push((key.clone(), format!("t{n}")));
        }
        let lost = stored::lost(&server, &acknowledged, &[key]).await;
        assert_eq!(lost, 0);
        figures::report(
            "R12-commit",
            database,
            began,
            &[
                ("commits_cut", commits),
                ("stored_all_the_same", stored_at_once),
                ("lost_or_double", lost),
                (
                    "slowest_with_retry_ms",
                    usize::try_from(slowest.as_millis()).unwrap(),
                ),
            ],
        );
    })
    .await;
}
