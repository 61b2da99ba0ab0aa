//! Clients that take their time, so that the server runs out of it. The server's timeouts are short here.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{Stage, sent};
use crate::support::{Database, on_both};

const SHORT: Duration = Duration::from_secs(1);
const FLAGS: [&str; 2] = ["--limits-header-timeout=1s", "--limits-body-timeout=1s"];
const CLIENTS: usize = 50;

/// A busy machine is late.
const LATE: Duration = Duration::from_secs(20);

/// Sends a beginning, then a byte now and then for as long as the server listens; gives what the server said.
async fn drip(address: String, beginning: &'static str) -> Vec<u8> {
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut from, mut to) = stream.into_split();
    let mut said = Vec::new();
    let write = async {
        let mut written = to.write_all(beginning.as_bytes()).await;
        while written.is_ok() {
            tokio::time::sleep(SHORT / 10).await;
            written = to.write_all(b"1").await;
        }
    };
    let read = async {
        let _ = from.read_to_end(&mut said).await;
    };
    // What was sent too late may have been refused by a reset; the answer came before it.
    let both = tokio::time::timeout(LATE, futures::future::join(write, read)).await;
    assert!(both.is_ok(), "{beginning:?} is listened to for ever");
    said
}

on_both! {
    who_drips_a_head_or_a_body_is_shown_the_door,
    who_reads_nothing_is_left,
}

async fn who_drips_a_head_or_a_body_is_shown_the_door(db: &Database) {
    let stage = Stage::set_with(db, &FLAGS).await;
    for (beginning, statuses) in [
        ("", [0, 400]),
        ("GET /healthz HTTP/1.1\r\nx: ", [0, 408]),
        ("PRI * HTTP/2.0\r\n", [0, 400]),
        (
            "POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n",
            [408, 408],
        ),
        (
            "POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n",
            [408, 400],
        ),
    ] {
        let clients = (0..CLIENTS).map(|_| tokio::spawn(drip(stage.address(), beginning)));
        for client in clients.collect::<Vec<_>>() {
            let answer = sent::read(&client.await.unwrap());
            assert!(statuses.contains(&answer.status), "{beginning:?}: {}", answer.raw);
        }
    }
    stage.stays_unharmed().await;
}

async fn who_reads_nothing_is_left(db: &Database) {
    let stage = Stage::set_with(db, &FLAGS).await;
    let ask = "GET /graphiql/graphiql.js HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(20);
    let mut silent = Vec::new();
    for _ in 0..CLIENTS {
        let mut stream = TcpStream::connect(stage.address()).await.unwrap();
        let _ = stream.write_all(ask.as_bytes()).await;
        silent.push(stream);
    }
    tokio::time::sleep(3 * SHORT).await;
    for mut stream in silent {
        let mut read = Vec::new();
        let ended = tokio::time::timeout(LATE, stream.read_to_end(&mut read)).await;
        assert!(ended.is_ok(), "the server has closed");
        let answers = String::from_utf8_lossy(&read).matches("HTTP/1.1 200").count();
        assert!(answers < 20, "what was not read is not kept for ever");
    }
    stage.stays_unharmed().await;
}
