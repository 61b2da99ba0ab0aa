//! A wire to PostgreSQL: it counts the statements that go over it, and is as bad as a test wants.

mod messages;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use reqwest::Url;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

use self::messages::Messages;
use super::Database;

/// Stands between a server and its database.
pub struct Wire {
    url: String,
    counts: Arc<Counts>,
    weather: watch::Sender<Weather>,
    accepting: JoinHandle<()>,
}

#[derive(Default)]
struct Counts {
    statements: AtomicUsize,
    /// How many of the next commits break their connection.
    breaks: AtomicUsize,
    broken: AtomicUsize,
}

/// What happens to what goes over the wire.
#[derive(Clone, Copy, Default)]
struct Weather {
    /// How long every answer takes.
    latency: Duration,
    /// Nothing gets through. What was connected then stays mute for good, as when a firewall has forgotten it.
    mute: bool,
    /// How often everything was reset.
    resets: usize,
}

/// What was in some bytes.
#[derive(Default)]
struct Heard {
    /// How many messages that execute something.
    executions: usize,
    /// Whether a transaction was to be committed.
    commit: bool,
}

impl Wire {
    pub async fn to(database: &Database) -> Self {
        let mut url: Url = database.url().parse().unwrap();
        let behind = format!(
            "{}:{}",
            url.host_str().expect("a host"),
            url.port().unwrap_or(5432)
        );
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        url.set_host(Some("127.0.0.1")).unwrap();
        url.set_port(Some(port)).unwrap();
        // What is encrypted cannot be counted.
        url.query_pairs_mut().append_pair("sslmode", "disable");
        let counts = Arc::new(Counts::default());
        let (weather, forecast) = watch::channel(Weather::default());
        let counted = Arc::clone(&counts);
        let accepting = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(&behind).await.unwrap();
                let link = Link::new(client, server, Arc::clone(&counted), forecast.clone());
                tokio::spawn(link.carry());
            }
        });
        Self {
            url: url.into(),
            counts,
            weather,
            accepting,
        }
    }

    /// The URL of the database by this wire.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// How many statements were executed since the last call.
    pub fn statements(&self) -> usize {
        self.counts.statements.swap(0, Ordering::SeqCst)
    }

    /// From now on every answer takes so much longer.
    pub fn delay(&self, latency: Duration) {
        self.weather.send_modify(|weather| weather.latency = latency);
    }

    /// From now on nothing gets through, and nobody is told so.
    pub fn mute(&self) {
        self.weather.send_modify(|weather| weather.mute = true);
    }

    /// What is connected from now on gets through again.
    pub fn heal(&self) {
        self.weather.send_modify(|weather| weather.mute = false);
    }

    /// Resets every connection there is.
    pub fn reset(&self) {
        self.weather.send_modify(|weather| weather.resets += 1);
    }

    /// Resets the connections of the next commits: of every other one before it reaches the database, of the others
    /// when it has been sent there and the answer is not there yet.
    pub fn break_commits(&self, count: usize) {
        self.counts.breaks.store(count, Ordering::SeqCst);
    }

    /// How many commits were broken.
    pub fn broken_commits(&self) -> usize {
        self.counts.broken.load(Ordering::SeqCst)
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// One connection.
struct Link {
    client: (OwnedReadHalf, OwnedWriteHalf),
    server: (OwnedReadHalf, OwnedWriteHalf),
    counts: Arc<Counts>,
    weather: watch::Receiver<Weather>,
    messages: Messages,
    /// What the server said, and when it arrives.
    answers: VecDeque<(Instant, Vec<u8>)>,
}

impl Link {
    fn new(
        client: TcpStream,
        server: TcpStream,
        counts: Arc<Counts>,
        weather: watch::Receiver<Weather>,
    ) -> Self {
        for stream in [&client, &server] {
            stream.set_nodelay(true).unwrap();
        }
        Self {
            client: client.into_split(),
            server: server.into_split(),
            counts,
            weather,
            messages: Messages::default(),
            answers: VecDeque::new(),
        }
    }

    /// Carries bytes until one side ends or the weather does it.
    async fn carry(mut self) {
        let mut dead = self.weather.borrow().mute;
        let resets = self.weather.borrow().resets;
        let (mut asked, mut answered) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
        loop {
            let arrives = self.answers.front().map(|(arrives, _)| *arrives);
            tokio::select! {
                read = self.client.0.read(&mut asked) => match read {
                    // A mute wire swallows what is said.
                    Ok(1..) if dead => {}
                    Ok(read @ 1..) => if !self.ask(&asked[..read]).await { return },
                    _ => return,
                },
                read = self.server.0.read(&mut answered), if !dead => match read {
                    Ok(read @ 1..) => {
                        let arrives = Instant::now() + self.weather.borrow().latency;
                        self.answers.push_back((arrives, answered[..read].to_vec()));
                    }
                    _ => return self.deliver_all().await,
                },
                () = sleep_until(arrives.unwrap_or_else(Instant::now)), if !dead && arrives.is_some() => {
                    let (_, answer) = self.answers.pop_front().expect("looked at just now");
                    if self.client.1.write_all(&answer).await.is_err() { return }
                },
                changed = self.weather.changed() => {
                    let weather = *self.weather.borrow_and_update();
                    dead |= weather.mute;
                    if changed.is_err() { return }
                    if weather.resets > resets { return self.reset() }
                },
            }
        }
    }

    /// Hands on what the client said. False when that is the end.
    async fn ask(&mut self, bytes: &[u8]) -> bool {
        let heard = self.messages.hear(bytes);
        self.counts
            .statements
            .fetch_add(heard.executions, Ordering::SeqCst);
        let one_less = |left: usize| left.checked_sub(1);
        let left = &self.counts.breaks;
        let breaks = heard.commit
            && left
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less)
                .is_ok();
        if !breaks {
            return self.server.1.write_all(bytes).await.is_ok();
        }
        if self.counts.broken.fetch_add(1, Ordering::SeqCst) % 2 == 1 {
            let sent = self.server.1.write_all(bytes).await;
            let answer = self.server.0.readable().await;
            assert!(sent.is_ok() && answer.is_ok(), "the database took the commit");
        }
        self.reset();
        false
    }

    async fn deliver_all(mut self) {
        while let Some((arrives, answer)) = self.answers.pop_front() {
            sleep_until(arrives).await;
            if self.client.1.write_all(&answer).await.is_err() {
                return;
            }
        }
    }

    /// What is dropped now is reset, not ended.
    fn reset(&self) {
        for half in [&self.client.0, &self.server.0] {
            let _ = half.as_ref().set_zero_linger();
        }
    }
}
