//! Many connections at the real server, and how many files it may open for them.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::{Backend, Database, Process, process, with_database};

/// A server that was started with these limits of open files, soft and hard.
async fn with_open_files(database: &Database, soft: u64, hard: u64, arguments: &[&str]) -> Process {
    let server = process::threadline(database);
    let mut shell = Command::new("sh");
    let limits = format!("ulimit -S -n {soft} && ulimit -H -n {hard} && exec \"$0\" \"$@\"");
    shell.arg("-c").arg(limits).arg(server.get_program());
    shell.arg("serve").args(arguments);
    shell
        .env_clear()
        .env("DATABASE_URL", database.url())
        .current_dir(database.folder());
    Process::run(shell).await
}

fn ask(stream: &mut TcpStream) -> String {
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let _ = stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n");
    let mut answer = [0; 4096];
    let read = stream.read(&mut answer).unwrap_or(0);
    String::from_utf8_lossy(&answer[..read]).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_connection_too_many_is_told_to_come_back_and_the_others_are_served() {
    with_database(Backend::Sqlite, async |database| {
        let server = Process::start(
            database,
            &["--limits-connections=20", "--limits-header-timeout=60s"],
        )
        .await;
        let address = server.url("").replace("http://", "");
        // The client that waited for the server has a connection too.
        let mut kept = Vec::new();
        let refusal = loop {
            let mut stream = TcpStream::connect(&address).unwrap();
            let answer = ask(&mut stream);
            if !answer.starts_with("HTTP/1.1 200") {
                break answer;
            }
            kept.push(stream);
        };
        assert!(
            refusal.starts_with("HTTP/1.1 503") && refusal.contains("SERVICE_UNAVAILABLE"),
            "{refusal}"
        );
        assert!((18..=20).contains(&kept.len()), "{}", kept.len());
        for stream in &mut kept {
            assert!(ask(stream).starts_with("HTTP/1.1 200"));
        }
        assert_eq!(
            server.output().matches("one more was refused").count(),
            1,
            "{}",
            server.output()
        );
        drop(kept);
        let began = Instant::now();
        while !ask(&mut TcpStream::connect(&address).unwrap()).starts_with("HTTP/1.1 200") {
            assert!(began.elapsed() < Duration::from_secs(5));
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_may_open_as_many_files_as_its_connections_need() {
    with_database(Backend::Sqlite, async |database| {
        let server = with_open_files(
            database,
            256,
            4_000,
            &["--limits-connections=1000", "--limits-header-timeout=120s"],
        )
        .await;
        assert!(!server.output().contains("open files"), "{}", server.output());
        let address = server.url("").replace("http://", "");
        let mut streams: Vec<_> = (0..600).map(|_| TcpStream::connect(&address).unwrap()).collect();
        for stream in &mut streams {
            assert!(ask(stream).starts_with("HTTP/1.1 200"));
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_system_that_allows_too_few_files_is_named_at_the_start() {
    with_database(Backend::Sqlite, async |database| {
        let server = with_open_files(database, 256, 800, &[]).await;
        let output = server.output();
        assert!(
            output.contains("raise the hard limit") && output.contains("allowed=800"),
            "{output}"
        );
    })
    .await;
}
