//! No client behaviour leaks a transaction (R6).

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures::{StreamExt, stream};

use super::stored;
use crate::support::rows::Rows;
use crate::support::wire::Wire;
use crate::support::{Answer, Backend, Client, Key, List, TestServer, Turn, figures, rounds, with_database};

const THREADS: usize = 40;
const AT_ONCE: usize = 32;
const LATENCY: Duration = Duration::from_millis(200);

/// The nth request: a read, a turn or a reset.
async fn ask(client: &Client, thread: &(Key, String), n: usize) -> Answer {
    let (key, id) = thread;
    match n % 4 {
        0 => client.try_page(&List::of_thread(&key.agent, id), 20, None).await,
        1 => client.reset(id).await,
        _ => {
            client
                .try_append(key, &Turn::of_texts(&format!("t{n}"), &["a"; stored::MESSAGES]))
                .await
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_are_aborted_leave_no_transaction_open_and_no_turn_half_stored() {
    with_database(Backend::Postgres, async |database| {
        let began = Instant::now();
        let wire = Wire::to(database).await;
        let server = TestServer::start_over(database.gateway_at(wire.url()).await).await;
        let mut threads = Vec::new();
        for n in 0..THREADS {
            let key = Key::of(&format!("p{n}"));
            server.say(&key, "first", &["a"; stored::MESSAGES]).await;
            threads.push((key.clone(), server.thread_id(&key).await));
        }
        wire.delay(LATENCY);
        let operations = rounds(200, 5_000);
        let (aborted, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let acknowledged = Mutex::new(Vec::new());
        stream::iter(0..operations)
            .for_each_concurrent(AT_ONCE, async |n| {
                let thread = &threads[rand::random_range(0..THREADS)];
                let patience = Duration::from_millis(rand::random_range(0..3_000));
                let Ok(answer) = tokio::time::timeout(patience, ask(&server, thread, n)).await else {
                    aborted.fetch_add(1, Ordering::Relaxed);
                    return;
                };
                if answer.body.get("errors").is_some() {
                    assert_eq!(answer.code(), "SERVICE_UNAVAILABLE");
                    refused.fetch_add(1, Ordering::Relaxed);
                } else if n % 4 > 1 {
                    acknowledged
                        .lock()
                        .unwrap()
                        .push((thread.0.clone(), format!("t{n}")));
                }
            })
            .await;
        wire.delay(Duration::ZERO);
        let idle_in_transaction = left_open(&Rows::of(database).await).await;
        assert_eq!(idle_in_transaction, 0, "sessions idle in a transaction");
        let keys: Vec<Key> = threads.into_iter().map(|(key, _)| key).collect();
        let mut acknowledged = acknowledged.into_inner().unwrap();
        for key in &keys {
            server.say(key, "next", &["a"; stored::MESSAGES]).await;
            acknowledged.push((key.clone(), "next".to_owned()));
        }
        let lost = stored::lost(&server, &acknowledged, &keys).await;
        assert_eq!(lost, 0, "turns that were acknowledged and are not there");
        let (aborted, refused) = (aborted.into_inner(), refused.into_inner());
        assert!(
            aborted * 4 > operations && aborted < operations,
            "{aborted} of {operations} were aborted"
        );
        figures::report(
            "R6",
            database,
            began,
            &[
                ("operations", operations),
                ("aborted", aborted),
                ("refused", refused),
                ("acknowledged", acknowledged.len()),
                ("idle_in_transaction", idle_in_transaction),
                ("lost", lost),
            ],
        );
    })
    .await;
}

/// How many sessions are in a transaction and do nothing when what had begun is over: shorter than PostgreSQL would
/// need to end them itself.
async fn left_open(rows: &Rows) -> usize {
    let of_others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
    let ended = Instant::now();
    loop {
        let busy = format!("SELECT count(*) {of_others} AND state <> 'idle'");
        if rows.count(&busy).await == 0 || ended.elapsed() > Duration::from_secs(6) {
            let idle = format!("SELECT count(*) {of_others} AND state LIKE 'idle in transaction%'");
            return usize::try_from(rows.count(&idle).await).unwrap();
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
