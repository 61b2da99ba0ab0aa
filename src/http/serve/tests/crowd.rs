//! More connections than there are places.

use super::*;

const PLACES: usize = 3;

async fn crowded() -> (Server, Vec<TcpStream>) {
    let limits = Limits {
        connections: PLACES,
        header_timeout: 20 * SHORT,
        ..limits()
    };
    let server = start_with(limits).await;
    let mut kept = Vec::new();
    for _ in 0..PLACES {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        ask(&mut stream).await;
        kept.push(stream);
    }
    (server, kept)
}

/// A request on a connection that is kept.
async fn ask(stream: &mut TcpStream) {
    stream
        .write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        .await
        .unwrap();
    let mut answer = [0; 1024];
    let read = stream.read(&mut answer).await.unwrap();
    assert!(answer[..read].ends_with(b"fine"));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_finds_no_place_is_told_at_once_and_the_others_are_unharmed() {
    let (server, mut kept) = crowded().await;
    for _ in 0..10 {
        let began = Instant::now();
        let answer = server.get("/").await;
        assert!(
            answer.starts_with("HTTP/1.1 503 ") && answer.contains("\"code\":\"SERVICE_UNAVAILABLE\""),
            "{answer}"
        );
        for header in [
            "retry-after: 1",
            "connection: close",
            "content-type: application/problem+json",
            "x-content-type-options: nosniff",
        ] {
            assert!(answer.contains(&format!("\r\n{header}\r\n")), "{answer}");
        }
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(
            head.contains(&format!("content-length: {}\r\n", body.len())),
            "{answer}"
        );
        assert!(began.elapsed() < SHORT);
    }
    for stream in &mut kept {
        ask(stream).await;
    }
    // A place is free again when its connection ends.
    drop(kept.pop());
    let began = Instant::now();
    while !server.get("/").await.ends_with("fine") {
        assert!(began.elapsed() < 10 * SHORT);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_crowd_at_a_full_server_is_sent_away() {
    let (server, mut kept) = crowded().await;
    let mut silent = Vec::new();
    for _ in 0..2 * super::super::full::TOLD {
        silent.push(TcpStream::connect(server.address).await.unwrap());
    }
    for stream in &mut kept {
        ask(stream).await;
    }
    let began = Instant::now();
    for mut stream in silent {
        // Some are told, some are only hung up on.
        let _ = stream.read_to_end(&mut Vec::new()).await;
    }
    assert!(began.elapsed() < Duration::from_secs(5));
}
