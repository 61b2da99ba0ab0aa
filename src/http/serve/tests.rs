//! Clients that are slow, broken or hostile, over real sockets.

mod crowd;
mod http2;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use axum::{Router, body::Bytes, middleware, routing::get};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::{Limits, serve};
use crate::http::bounds;

const SHORT: Duration = Duration::from_millis(300);

/// More than the buffers between two sockets take.
const LARGE: usize = 64 << 20;

/// A server with short limits that is told to stop by a word, or by dropping the sender.
struct Server {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    ended: JoinHandle<()>,
}

async fn start() -> Server {
    start_with(limits()).await
}

fn limits() -> Limits {
    Limits {
        header_timeout: SHORT,
        body_timeout: SHORT,
        request_timeout: 2 * SHORT,
        drain_timeout: 3 * SHORT,
        body_bytes: 1_000,
        ..Limits::default()
    }
}

async fn start_with(limits: Limits) -> Server {
    let router = Router::new()
        .route(
            "/",
            get(|| async { "fine" }).post(|body: Bytes| async move { body }),
        )
        .route(
            "/panics",
            get(|| async { [0].iter().skip(1).copied().next().expect("as asked").to_string() }),
        )
        .route("/large", get(|| async { vec![0_u8; LARGE] }))
        .route("/takes", get(|| async { tokio::time::sleep(SHORT).await }))
        .route("/hangs", get(std::future::pending::<()>))
        .layer(middleware::from_fn_with_state(limits.clone(), bounds::bound))
        .layer(middleware::from_fn(bounds::catch));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel();
    let ended = tokio::spawn(serve(listener, router, limits, async move {
        let _ = stopped.await;
    }));
    Server { address, stop, ended }
}

impl Server {
    /// Sends bytes and gives all that comes back until the server closes.
    async fn send(&self, bytes: &str) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(bytes.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        // A reset after the answer is as good as an end.
        let _ = tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut answer))
            .await
            .unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }

    async fn get(&self, path: &str) -> String {
        self.send(&format!(
            "GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
        ))
        .await
    }

    async fn is_alive(&self) {
        assert!(self.get("/").await.ends_with("fine"));
    }
}

#[tokio::test]
async fn who_sends_in_time_is_answered_by_a_server_that_reads_too_late() {
    let server = start().await;
    for _ in 0..6 {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        tokio::time::sleep(SHORT / 10).await;
        let request = b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
        stream.write_all(request).await.unwrap();
        // The only thread hangs, as on a machine that has too much to do.
        std::thread::sleep(SHORT);
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.ends_with("fine"), "{answer:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_send_a_request_in_time_is_shown_the_door() {
    let server = start().await;
    for bytes in ["", "P", "PRI * HTTP/2.0\r\n", "GET / HTTP/1.1\r\nhost: x\r\n"] {
        let began = Instant::now();
        assert_eq!(server.send(bytes).await, "", "{bytes:?}");
        assert!(
            began.elapsed() >= SHORT && began.elapsed() < 4 * SHORT,
            "{bytes:?}"
        );
    }
    for rest in ["GET / HT", ""] {
        let began = Instant::now();
        let second = server
            .send(&format!("GET / HTTP/1.1\r\nhost: x\r\n\r\n{rest}"))
            .await;
        assert_eq!(second.matches("HTTP/1.1").count(), 1, "{second}");
        assert!(
            began.elapsed() >= SHORT && began.elapsed() < 4 * SHORT,
            "{rest:?}"
        );
    }
    server.is_alive().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_is_bounded_in_time_and_size_with_and_without_a_length() {
    let server = start().await;
    let post = "POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n";
    for (rest, status) in [
        ("content-length: 3\r\n\r\nabc".to_owned(), "200"),
        (
            format!("content-length: 1000\r\n\r\n{}", "a".repeat(1_000)),
            "200",
        ),
        (
            format!("content-length: 1001\r\n\r\n{}", "a".repeat(1_001)),
            "413",
        ),
        ("content-length: 60000000\r\n\r\n".to_owned(), "413"),
        (
            "content-length: 99999999999999999999999\r\n\r\n".to_owned(),
            "400",
        ),
        (
            format!(
                "transfer-encoding: chunked\r\n\r\n3e9\r\n{}\r\n0\r\n\r\n",
                "a".repeat(1_001)
            ),
            "413",
        ),
        ("content-length: 3\r\n\r\nab".to_owned(), "408"),
        ("transfer-encoding: chunked\r\n\r\n3\r\nab".to_owned(), "408"),
        ("transfer-encoding: chunked\r\n\r\nzz\r\n".to_owned(), "400"),
        (
            "content-length: 3\r\ncontent-length: 4\r\n\r\nabcd".to_owned(),
            "400",
        ),
        (
            "content-encoding: gzip\r\ncontent-length: 3\r\n\r\nabc".to_owned(),
            "415",
        ),
    ] {
        let answer = server.send(&format!("{post}{rest}")).await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status} ")),
            "{rest:.60}: {answer}"
        );
    }
    server.is_alive().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_with_two_lengths_smuggles_nothing() {
    let server = start().await;
    let lengths = "content-length: 3\r\ntransfer-encoding: chunked";
    let smuggled = "GET /smuggled HTTP/1.1\r\nhost: x\r\n\r\n";
    let answer = server
        .send(&format!(
            "POST / HTTP/1.1\r\nhost: x\r\n{lengths}\r\n\r\n0\r\n\r\n{smuggled}"
        ))
        .await;
    // The chunks count, as RFC 9112 has it, and nothing that follows on this connection does.
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(answer.matches("HTTP/1.1").count(), 1, "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_bounded_in_time_and_a_panic_is_one() {
    let server = start().await;
    let slow = server.get("/hangs").await;
    assert!(
        slow.starts_with("HTTP/1.1 503") && slow.contains("\"code\":\"SERVICE_UNAVAILABLE\""),
        "{slow}"
    );
    let panic = server.get("/panics").await;
    assert!(
        panic.starts_with("HTTP/1.1 500") && panic.contains("\"code\":\"INTERNAL_SERVER_ERROR\""),
        "{panic}"
    );
    assert!(
        panic.contains("application/problem+json") && !panic.contains("as asked"),
        "{panic}"
    );
    server.is_alive().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_read_the_answer_is_left() {
    let server = start().await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let request = b"GET /large HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    stream.write_all(request).await.unwrap();
    tokio::time::sleep(4 * SHORT).await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    assert!(answer.len() < LARGE, "{}", answer.len());
    // Who reads slowly but steadily gets everything.
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(request).await.unwrap();
    let mut read = 0;
    let mut buffer = vec![0; 4 << 20];
    loop {
        match stream.read(&mut buffer).await.unwrap() {
            0 => break,
            count => read += count,
        }
        tokio::time::sleep(SHORT / 100).await;
    }
    assert!(read > LARGE, "{read}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_is_bounded_in_size() {
    let server = start().await;
    let head = format!(
        "GET / HTTP/1.1\r\nhost: x\r\nx: {}\r\n\r\n",
        "a".repeat(64 * 1024)
    );
    assert!(server.send(&head).await.starts_with("HTTP/1.1 431"));
    server.is_alive().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_finishes_what_has_begun_and_takes_nothing_new() {
    let server = start().await;
    let mut idle = TcpStream::connect(server.address).await.unwrap();
    let mut busy = TcpStream::connect(server.address).await.unwrap();
    busy.write_all(b"GET /takes HTTP/1.1\r\nhost: x\r\n\r\n")
        .await
        .unwrap();
    tokio::time::sleep(SHORT / 3).await;
    let Server { address, stop, ended } = server;
    stop.send(()).unwrap();
    let mut answer = String::new();
    busy.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(idle.read(&mut [0]).await.unwrap_or(0), 0);
    tokio::time::timeout(SHORT, ended).await.unwrap().unwrap();
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_waits_no_longer_than_the_drain_timeout() {
    let server = start().await;
    let mut busy = TcpStream::connect(server.address).await.unwrap();
    // The body never comes, so the request is under way until its own limit.
    for _ in 0..2 {
        busy.write_all(b"GET /hangs HTTP/1.1\r\nhost: x\r\n\r\n")
            .await
            .unwrap();
    }
    tokio::time::sleep(SHORT / 3).await;
    let began = Instant::now();
    server.stop.send(()).unwrap();
    server.ended.await.unwrap();
    assert!(began.elapsed() < 5 * SHORT);
}
