//! HTTP/2 as its rules allow it and nobody needs it: floods of frames, and answers that are never taken.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::Stage;
use crate::support::{Database, on_both};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const FLAGS: [&str; 2] = ["--limits-header-timeout=2s", "--limits-body-timeout=2s"];

/// A busy machine is late.
const LATE: Duration = Duration::from_secs(30);

/// Kinds of frames, and flags of them.
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RESET: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// The head of a `GET` of a path, in HPACK without compression.
fn head(path: &str) -> Vec<u8> {
    let literal = |name: u8, value: &str| {
        let length = u8::try_from(value.len()).unwrap();
        [&[name, length], value.as_bytes()].concat()
    };
    // `:method: GET` and `:scheme: http` are in the table, as are the names of `:authority` and `:path`.
    [vec![0x82, 0x86], literal(0x01, "localhost"), literal(0x04, path)].concat()
}

/// What the server did about a flood.
#[derive(Debug, PartialEq)]
enum Flooded {
    /// It closed in the middle, or said that it would.
    Refused,
    /// It took everything, and closed at last.
    Closed,
    /// It took everything, and waits for more.
    Open,
}

/// Sends frames until the server closes, at most so often.
async fn flood(stage: &Stage, times: u32, frames: impl Fn(u32) -> Vec<u8>) -> Flooded {
    let stream = TcpStream::connect(stage.address()).await.unwrap();
    let (mut from, mut to) = stream.into_split();
    let write = async {
        to.write_all(&[PREFACE, &frame(SETTINGS, 0, 0, &[])].concat())
            .await?;
        for n in 0..times {
            to.write_all(&frames(n)).await?;
        }
        std::io::Result::Ok(())
    };
    let mut said = Vec::new();
    let read = async {
        // A reset is as good as an end.
        let _ = tokio::time::timeout(LATE, from.read_to_end(&mut said))
            .await
            .ok()?;
        Some(())
    };
    match tokio::join!(write, read) {
        (Err(_), Some(())) => Flooded::Refused,
        (Ok(()), Some(())) if was_told_to_go(&said) => Flooded::Refused,
        (_, Some(())) => Flooded::Closed,
        (_, None) => Flooded::Open,
    }
}

/// Whether a GOAWAY came.
fn was_told_to_go(said: &[u8]) -> bool {
    let mut rest = said;
    while let [a, b, c, kind, ..] = rest {
        if *kind == 7 {
            return true;
        }
        let length = u32::from_be_bytes([0, *a, *b, *c]) as usize;
        rest = rest.get(9 + length..).unwrap_or_default();
    }
    false
}

on_both! {
    a_flood_of_frames_ends_its_connection_and_no_other,
    answers_that_are_never_taken_are_given_up,
}

async fn a_flood_of_frames_ends_its_connection_and_no_other(db: &Database) {
    let stage = Stage::set_with(db, &FLAGS).await;
    let path = head("/agents/innocent/chat/messages?limit=200");
    let resets = flood(&stage, 20_000, |n| {
        let stream = 2 * n + 1;
        let opened = frame(HEADERS, END_STREAM | END_HEADERS, stream, &path);
        [opened, frame(RESET, 0, stream, &8_u32.to_be_bytes())].concat()
    });
    assert_eq!(
        resets.await,
        Flooded::Refused,
        "20,000 requests that are taken back"
    );

    let block = frame(CONTINUATION, 0, 1, &[0; 16_000]);
    let nothing = frame(CONTINUATION, 0, 1, &[]).repeat(1_000);
    for (name, more) in [
        ("a head that never ends", block),
        ("a head that goes on with nothing", nothing),
    ] {
        let continued = flood(&stage, 2_000, |n| match n {
            0 => frame(HEADERS, END_STREAM, 1, &path),
            _ => more.clone(),
        });
        assert_eq!(continued.await, Flooded::Refused, "{name}");
    }

    let upload = head("/graphql");
    let nothing = frame(DATA, 0, 1, &[]).repeat(1_000);
    let uploaded = flood(&stage, 2_000, |n| match n {
        0 => frame(HEADERS, END_HEADERS, 1, &upload),
        _ => nothing.clone(),
    });
    assert_eq!(uploaded.await, Flooded::Refused, "a body of nothing that goes on");

    for (name, frames) in [
        ("pings", frame(PING, 0, 0, &[0; 8])),
        ("settings", frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 255, 255])),
    ] {
        // Each is answered; whoever asks for nothing is shown the door all the same.
        let flooded = flood(&stage, 50_000, |_| frames.clone()).await;
        assert_ne!(flooded, Flooded::Open, "50,000 {name}");
    }
    stage.stays_unharmed().await;
}

async fn answers_that_are_never_taken_are_given_up(db: &Database) {
    let stage = Stage::set_with(db, &FLAGS).await;
    let stream = TcpStream::connect(stage.address()).await.unwrap();
    let (mut client, connection) = h2::client::Builder::new()
        .initial_window_size(0)
        .handshake::<_, &[u8]>(stream)
        .await
        .unwrap();
    // Answers pings, as somebody who lives does.
    let connection = tokio::spawn(connection);
    let mut untaken = Vec::new();
    while untaken.len() < 20 {
        // A slow machine asks for the last when the first is given up already.
        let Ok(ready) = client.ready().await else {
            break;
        };
        client = ready;
        let request = http::Request::get("http://localhost/graphiql/graphiql.js");
        match client.send_request(request.body(()).unwrap(), true) {
            Ok((answer, _)) => untaken.push(answer),
            Err(_) => break,
        }
    }
    let ended = tokio::time::timeout(LATE, connection).await;
    assert!(ended.is_ok(), "the server keeps what nobody takes");
    stage.stays_unharmed().await;
}
