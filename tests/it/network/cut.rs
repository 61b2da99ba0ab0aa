//! A database that is slow, mute or cut off (R12): every request is answered in time, and the server works again soon
//! after the network does.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use futures::future::join_all;
use tokio::sync::watch;

use super::stored;
use crate::support::wire::Wire;
use crate::support::{
    Answer, Backend, Client, Database, Key, List, Process, Turn, figures, rounds, with_database,
};

const WRITERS: usize = 24;
const REQUEST_TIMEOUT: Duration = Duration::from_secs(15);
/// Within which the server has to work again.
const RECOVERY: Duration = Duration::from_secs(5);

/// A request and its end.
struct Asked {
    at: Instant,
    took: Duration,
    refused: bool,
}

/// Everything that was asked meanwhile.
#[derive(Default)]
struct Log {
    asked: Mutex<Vec<Asked>>,
    acknowledged: Mutex<Vec<(Key, String)>>,
}

impl Log {
    /// Sends a request and says whether it was served. Anything else than a refusal that is typed is a fault.
    async fn ask(&self, request: impl Future<Output = Answer>) -> bool {
        let at = Instant::now();
        let answer = request.await;
        let refused = answer.body.get("errors").is_some() || answer.status != 200;
        if refused {
            assert_eq!(answer.code(), "SERVICE_UNAVAILABLE", "{}", answer.raw);
        }
        let took = at.elapsed();
        self.asked.lock().unwrap().push(Asked { at, took, refused });
        !refused
    }

    /// How long after a moment the last request began that was refused.
    fn refused_until(&self, moment: Instant) -> Duration {
        let asked = self.asked.lock().unwrap();
        let last = asked
            .iter()
            .filter(|asked| asked.refused)
            .map(|asked| asked.at)
            .max();
        last.map_or(Duration::ZERO, |last| last.saturating_duration_since(moment))
    }

    fn refused(&self) -> usize {
        self.asked
            .lock()
            .unwrap()
            .iter()
            .filter(|asked| asked.refused)
            .count()
    }
}

/// Writes turn after turn, each until it is acknowledged, and reads in between, until it is told to stop.
async fn write_and_read(client: &Client, writer: usize, log: &Log, stop: watch::Receiver<bool>) {
    let key = Key::of(&format!("p{writer}"));
    for n in 0.. {
        let turn = Turn::of_texts(&format!("t{n}"), &["a"; stored::MESSAGES]);
        while !log.ask(client.try_append(&key, &turn)).await {
            if *stop.borrow() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        log.acknowledged
            .lock()
            .unwrap()
            .push((key.clone(), format!("t{n}")));
        log.ask(client.try_page(&List::of_agent("support"), 5, None))
            .await;
        if *stop.borrow() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Breaks the wire again and again while writers are at work, and gives the longest that it took to work again.
async fn break_and_heal(wire: &Wire, log: &Log) -> Duration {
    let mut slowest = Duration::ZERO;
    for round in 0..rounds(1, 10) {
        for fault in 0..4 {
            let before = log.refused();
            match fault {
                0 => wire.delay(Duration::from_secs(2)),
                1 => wire.mute(),
                2 => wire.reset(),
                _ => wire.break_commits(WRITERS),
            }
            // At the full size every outage has another length.
            let outage = Duration::from_millis(u64::try_from(rounds(3_000, 2_000 + 1_000 * round)).unwrap());
            tokio::time::sleep(if fault < 2 { outage } else { Duration::ZERO }).await;
            wire.delay(Duration::ZERO);
            wire.heal();
            let healed = Instant::now();
            let watched = if fault == 1 { 6 } else { rounds(2, 7) };
            tokio::time::sleep(Duration::from_secs(u64::try_from(watched).unwrap())).await;
            let recovery = log.refused_until(healed);
            println!(
                "round {round}, fault {fault}: {} refused, the last {} ms after the network was whole",
                log.refused() - before,
                recovery.as_millis()
            );
            assert!(recovery <= RECOVERY, "round {round}, fault {fault}: {recovery:?}");
            slowest = slowest.max(recovery);
        }
    }
    slowest
}

async fn all_is_answered_and_works_again(database: &Database) {
    let began = Instant::now();
    let wire = Wire::to(database).await;
    let server = Process::start(database, &["--database-url", wire.url()]).await;
    let log = Log::default();
    let (stop, stopped) = watch::channel(false);
    let writers = join_all((0..WRITERS).map(|writer| write_and_read(&server, writer, &log, stopped.clone())));
    let faults = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let recovery = break_and_heal(&wire, &log).await;
        stop.send_replace(true);
        recovery
    };
    let (_, recovery) = futures::join!(writers, faults);
    let asked = log.asked.into_inner().unwrap();
    let slowest = asked.iter().map(|asked| asked.took).max().expect("requests");
    assert!(slowest <= REQUEST_TIMEOUT + Duration::from_secs(1), "{slowest:?}");
    let keys: Vec<Key> = (0..WRITERS)
        .map(|writer| Key::of(&format!("p{writer}")))
        .collect();
    let acknowledged = log.acknowledged.into_inner().unwrap();
    let lost = stored::lost(&server, &acknowledged, &keys).await;
    assert_eq!(lost, 0);
    let millis = |time: Duration| usize::try_from(time.as_millis()).unwrap();
    figures::report(
        "R12",
        database,
        began,
        &[
            ("outages", rounds(1, 10) * 4),
            ("requests", asked.len()),
            ("refused", asked.iter().filter(|asked| asked.refused).count()),
            ("unanswered", 0),
            ("slowest_answer_ms", millis(slowest)),
            ("slowest_recovery_ms", millis(recovery)),
            ("acknowledged", acknowledged.len()),
            ("lost", lost),
        ],
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_mute_or_cut_database_delays_nobody_beyond_the_timeout_and_is_used_again_when_it_is_back() {
    with_database(Backend::Postgres, all_is_answered_and_works_again).await;
}
