//! More requests than the pool can serve (R13).

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use futures::future::join_all;

use super::stored;
use crate::support::wire::Wire;
use crate::support::{Answer, Backend, Client, Key, List, Process, Turn, figures, rounds, with_database};

const AT_ONCE: usize = 500;
const POOL: &str = "--database-max-connections=5";
/// Within which `/healthz` has to be answered.
const ALIVE: Duration = Duration::from_millis(100);

/// Asks `/healthz` all the time, from a thread of its own that waits for nothing else, and gives how long each answer
/// took.
struct Pulse {
    stop: Arc<AtomicBool>,
    asking: JoinHandle<Vec<Duration>>,
}

impl Pulse {
    fn of(client: &Client) -> Self {
        let host = client.url("").replace("http://", "");
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let asking = thread::spawn(move || {
            let mut stream = TcpStream::connect(&host).unwrap();
            stream.set_nodelay(true).unwrap();
            let request = format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n");
            let (mut took, mut answer) = (Vec::new(), [0; 4096]);
            while !stopped.load(Ordering::Relaxed) {
                let asked = Instant::now();
                stream.write_all(request.as_bytes()).unwrap();
                let read = stream.read(&mut answer).unwrap();
                took.push(asked.elapsed());
                assert!(answer[..read].starts_with(b"HTTP/1.1 200 "), "alive");
                thread::sleep(Duration::from_millis(10));
            }
            took
        });
        Self { stop, asking }
    }

    fn stop(self) -> Vec<Duration> {
        self.stop.store(true, Ordering::Relaxed);
        let mut took = self.asking.join().unwrap();
        took.sort_unstable();
        took
    }
}

/// Half of the requests read, the others write to threads of their own.
async fn ask(client: &Client, round: usize, n: usize) -> Answer {
    if n.is_multiple_of(2) {
        return client.try_page(&List::of_agent("support"), 20, None).await;
    }
    let turn = Turn::of_texts(&format!("t{round}"), &["a"; stored::MESSAGES]);
    client.try_append(&Key::of(&format!("p{n}")), &turn).await
}

fn is_served(answer: &Answer) -> bool {
    if answer.body.get("errors").is_none() {
        return true;
    }
    assert_eq!(answer.code(), "SERVICE_UNAVAILABLE", "{}", answer.raw);
    false
}

#[tokio::test(flavor = "multi_thread")]
async fn five_hundred_requests_on_five_slow_connections_are_served_or_refused_and_the_server_stays_alive() {
    with_database(Backend::Postgres, async |database| {
        let began = Instant::now();
        let wire = Wire::to(database).await;
        let server = Process::start(database, &["--database-url", wire.url(), POOL]).await;
        let keys: Vec<Key> = (0..AT_ONCE).map(|n| Key::of(&format!("p{n}"))).collect();
        let (mut served, mut refused, mut slowest) = (0, 0, Duration::ZERO);
        let mut acknowledged = Vec::new();
        let mut pulses = Vec::new();
        for round in 0..rounds(1, 20) {
            wire.delay(Duration::from_millis(100));
            let pulse = Pulse::of(&server);
            let asked = Instant::now();
            let answers = join_all((0..AT_ONCE).map(|n| ask(&server, round, n))).await;
            slowest = slowest.max(asked.elapsed());
            pulses.extend(pulse.stop());
            wire.delay(Duration::ZERO);
            for (n, answer) in answers.iter().enumerate() {
                if !is_served(answer) {
                    refused += 1;
                    continue;
                }
                served += 1;
                if !n.is_multiple_of(2) {
                    acknowledged.push((keys[n].clone(), format!("t{round}")));
                }
            }
            // What has begun ends, and then all is as before.
            tokio::time::sleep(Duration::from_secs(1)).await;
            server
                .say(&keys[0], &format!("after {round}"), &["a"; stored::MESSAGES])
                .await;
            server.page(&List::of_agent("support"), 20, None).await;
        }
        assert!(served > 0 && refused > 0, "{served} served, {refused} refused");
        assert!(slowest < Duration::from_secs(16), "{slowest:?}");
        let lost = stored::lost(&server, &acknowledged, &keys).await;
        assert_eq!(lost, 0);
        pulses.sort_unstable();
        let late = pulses.iter().filter(|took| **took > ALIVE).count();
        let millis = |time: Duration| usize::try_from(time.as_millis()).unwrap();
        // A debug build computes for milliseconds on each of the 500, which all come at once, on a machine that has other
        // tests to run.
        assert!(
            late * 20 <= pulses.len(),
            "{late} of {} were late: {:?}",
            pulses.len(),
            pulses.last()
        );
        figures::report(
            "R13",
            database,
            began,
            &[
                ("requests", rounds(1, 20) * AT_ONCE),
                ("served", served),
                ("refused", refused),
                ("lost", lost),
                ("slowest_answer_ms", millis(slowest)),
                ("healthz_asked", pulses.len()),
                ("healthz_over_100_ms", late),
                ("healthz_p99_ms", millis(pulses[pulses.len() * 99 / 100])),
                ("healthz_slowest_ms", millis(pulses[pulses.len() - 1])),
            ],
        );
    })
    .await;
}
