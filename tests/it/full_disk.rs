//! A disk that is full refuses writes and nothing else, until there is room again (R14).

use std::fmt::Write;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::small_disk::{SmallDisk, SmallPostgres};
use crate::support::{Backend, Database, Key, Process, Turn, figures, on_both, process, rounds};

on_both! {
    a_full_disk_refuses_writes_keeps_what_it_has_and_goes_on_when_there_is_room,
}

const MESSAGES: usize = 3;
/// Characters of each message: ten turns are some MiB.
const SIZE: usize = 60_000;
/// After how many refusals in a row the disk is taken to be full.
const REFUSALS: usize = 5;
/// How soon writes have to go on.
const SOON: Duration = Duration::from_secs(5);

/// A turn that cannot be made small.
fn large(n: usize) -> Turn {
    let text = || {
        (0..SIZE / 16).fold(String::new(), |mut text, _| {
            write!(text, "{:016x}", rand::random::<u64>()).unwrap();
            text
        })
    };
    (0..MESSAGES).fold(Turn::new(&format!("t{n}")), |turn, _| {
        turn.with("USER", json!({ "parts": [{ "type": "text", "text": text() }] }))
    })
}

/// A server whose rows are on a small disk, with so many pieces of it taken up.
async fn server_on_small_disk(db: &Database, pieces: usize) -> (Option<SmallPostgres>, Process, SmallDisk) {
    let mut command = process::threadline(db);
    command.arg("serve");
    if db.backend == Backend::Postgres {
        let postgres = SmallPostgres::start(db.folder());
        command.env("DATABASE_URL", postgres.url());
        let server = Process::run(command).await;
        let disk = SmallDisk::of(postgres.pid(), db.folder(), pieces);
        return (Some(postgres), server, disk);
    }
    let url = format!("sqlite://{}/disk/threadline.db?mode=rwc", db.folder().display());
    command.env("DATABASE_URL", url);
    let server = Process::run(SmallDisk::under(&command, db.folder())).await;
    let disk = SmallDisk::of(server.pid(), db.folder(), pieces);
    (None, server, disk)
}

/// Appends a turn and says whether it was stored. A refusal is typed.
async fn append(server: &Process, key: &Key, turn: &Turn) -> bool {
    let mutation = "mutation($input: AppendTurnInput!) { appendTurn(input: $input) { replayed } }";
    let answer = server
        .graphql(mutation, json!({ "input": turn.input(key) }))
        .await;
    if answer.body.get("errors").is_some() {
        assert_eq!(answer.code(), "SERVICE_UNAVAILABLE", "{}", answer.raw);
        return false;
    }
    assert_eq!(
        answer.data("/appendTurn/replayed"),
        false,
        "nothing of it was there"
    );
    true
}

/// The turns of a thread, oldest first, each as often as it has messages.
async fn turns(server: &Process, key: &Key) -> Vec<String> {
    let (mut turns, mut cursor) = (Vec::new(), String::from("null"));
    loop {
        let fields = format!("messages(limit: 50, cursor: {cursor}) {{ items {{ turnId }} nextCursor }}");
        let query = format!("query($key: ThreadKeyInput!) {{ threadByKey(key: $key) {{ {fields} }} }}");
        let answer = server.graphql(&query, json!({ "key": key.json() })).await;
        assert!(
            answer.body.get("errors").is_none(),
            "readers go on: {}",
            server.output()
        );
        let page = &answer.data("/threadByKey")["messages"];
        let items = page["items"].as_array().expect("items").clone();
        let mut earlier: Vec<_> = items
            .iter()
            .map(|row| row["turnId"].as_str().expect("a turn").to_owned())
            .collect();
        earlier.append(&mut turns);
        turns = earlier;
        if page["nextCursor"].is_null() {
            return turns;
        }
        cursor = page["nextCursor"].to_string();
    }
}

async fn a_full_disk_refuses_writes_keeps_what_it_has_and_goes_on_when_there_is_room(db: &Database) {
    let began = Instant::now();
    let times = rounds(2, 5);
    let (_postgres, server, mut disk) = server_on_small_disk(db, times).await;
    let (key, other) = (Key::of("p"), Key::of("q"));
    assert!(append(&server, &key, &large(0)).await && append(&server, &other, &large(0)).await);
    let mut expected = [vec!["t0".to_owned(); MESSAGES], vec!["t0".to_owned(); MESSAGES]];
    let (mut sent, mut refused, mut slowest) = (0, 0, Duration::ZERO);
    for _ in 0..times {
        sent += 1;
        let mut turn = large(sent);
        let mut in_a_row = 0;
        // The room that a refused turn leaves may be enough for it when a log was cut.
        while in_a_row < REFUSALS {
            if append(&server, &key, &turn).await {
                expected[0].extend(vec![format!("t{sent}"); MESSAGES]);
                sent += 1;
                turn = large(sent);
                in_a_row = 0;
            } else {
                in_a_row += 1;
                refused += 1;
            }
            assert!(sent < 1_000, "the disk is full some time");
        }
        if append(&server, &other, &large(sent)).await {
            expected[1].extend(vec![format!("t{sent}"); MESSAGES]);
        }
        assert_eq!(turns(&server, &key).await, expected[0], "readers go on");
        disk.free();
        let freed = Instant::now();
        while !append(&server, &key, &turn).await {
            assert!(freed.elapsed() < SOON, "writes go on");
        }
        slowest = slowest.max(freed.elapsed());
        expected[0].extend(vec![format!("t{sent}"); MESSAGES]);
    }
    for (key, expected) in [&key, &other].into_iter().zip(&expected) {
        assert_eq!(
            &turns(&server, key).await,
            expected,
            "every turn whole, once and in order"
        );
        let count = server.thread(key, "messageCount").await["messageCount"].clone();
        assert_eq!(count, expected.len());
    }
    figures::report(
        "R14",
        db,
        began,
        &[
            ("times_full", times),
            ("turns_stored", (expected[0].len() + expected[1].len()) / MESSAGES),
            ("refused", refused),
            ("lost_or_half", 0),
            ("restarts", 0),
            (
                "slowest_recovery_ms",
                usize::try_from(slowest.as_millis()).unwrap(),
            ),
        ],
    );
}
