//! What happens when something fails: a write that fails writes nothing, whatever step fails (R3), and what was
//! acknowledged outlives whatever dies.

mod checked;
mod killed;
mod raced;
mod stopped;

use std::time::{Duration, Instant};

use crate::support::{
    Answer, Backend, Database, Key, Process, TestServer, Turn, figures, on_both,
    rows::{Rows, Step},
};

on_both! {
    a_write_that_fails_at_any_step_leaves_every_row_as_it_was,
    a_server_that_dies_in_the_middle_of_a_turn_leaves_nothing_of_it,
    a_database_that_is_locked_for_too_long_is_an_error_and_nothing_is_written,
}

/// Whether a write was refused because the database failed, which is the only refusal here.
fn failed(answer: &Answer) -> bool {
    if answer.body.get("errors").is_none() {
        return false;
    }
    assert!(
        ["SERVICE_UNAVAILABLE", "INTERNAL_SERVER_ERROR"].contains(&answer.code()),
        "{}",
        answer.raw
    );
    assert!(
        !answer.raw.contains("fault") && !answer.raw.contains("INSERT"),
        "no word of the database: {}",
        answer.raw
    );
    true
}

async fn a_write_that_fails_at_any_step_leaves_every_row_as_it_was(db: &Database) {
    let server = TestServer::start(db).await;
    let rows = Rows::of(db).await;
    let old = Key::of("old");
    server.say(&old, "first", &["a", "b"]).await;
    let thread = server.thread_id(&old).await;
    let began = Instant::now();
    let mut broken = 0;
    let mut before = rows.snapshot().await;
    for (index, step) in Step::all(db.backend).iter().enumerate() {
        let turn = Turn::of_texts(&format!("t{index}"), &["c", "d", "e"]);
        let new = Key::of(&format!("new {index}"));
        let through = server
            .say(&old, &format!("through {index}"), &["f", "g"])
            .await
            .pop()
            .unwrap();
        before = rows.snapshot().await.max(before);
        let mut failures = 0;
        for write in 0..4 {
            rows.break_step(step).await;
            let answer = match write {
                0 => server.try_append(&new, &turn).await,
                1 => server.try_append(&old, &turn).await,
                2 => server.compact(&thread, "so far", &through).await,
                _ => server.reset(&thread).await,
            };
            rows.mend(step).await;
            let after = rows.snapshot().await;
            if failed(&answer) {
                failures += 1;
                assert_eq!(after, before, "step {index}, write {write}");
            }
            before = after;
        }
        assert!(failures > 0, "step {index} breaks something");
        broken += failures;
        for key in [&new, &old] {
            let stored = server.append(key, &turn).await;
            assert_eq!(stored["messages"].as_array().unwrap().len(), 3, "step {index}");
        }
        before = rows.snapshot().await;
    }
    let steps = Step::all(db.backend).len();
    let counted = [
        ("operations", 4 * steps),
        ("steps", steps),
        ("faults", broken),
        ("written", 0),
    ];
    figures::report("R3", db, began, &counted);
}

async fn a_server_that_dies_in_the_middle_of_a_turn_leaves_nothing_of_it(db: &Database) {
    let mut server = Process::start(db, &[]).await;
    let key = Key::of("p");
    server.say(&key, "first", &["a", "b"]).await;
    let rows = Rows::of(db).await;
    let before = rows.snapshot().await;
    let turn = Turn::of_texts("t", &["c", "d"]);
    // The turn waits for a lock that the test holds, in the middle of its transaction on PostgreSQL.
    rows.run(lock(db.backend)).await;
    let (client, at_once) = (server.client().clone(), (key.clone(), turn.clone()));
    let waiting = tokio::spawn(async move { client.send_append(&at_once.0, &at_once.1).await });
    tokio::time::sleep(Duration::from_millis(500)).await;
    server.kill9();
    assert!(
        waiting.await.unwrap().is_err(),
        "no answer comes from a dead server"
    );
    rows.run("ROLLBACK").await;
    let server = Process::start(db, &[]).await;
    assert_eq!(rows.snapshot().await, before);
    let stored = server.append(&key, &turn).await;
    assert_eq!(
        (&stored["replayed"], &stored["thread"]["messageCount"]),
        (&false.into(), &4.into())
    );
}

async fn a_database_that_is_locked_for_too_long_is_an_error_and_nothing_is_written(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    server.say(&key, "first", &["a", "b"]).await;
    let rows = Rows::of(db).await;
    let before = rows.snapshot().await;
    rows.run(lock(db.backend)).await;
    let answer = server.try_append(&key, &Turn::of_texts("t", &["c", "d"])).await;
    assert_eq!(answer.code(), "SERVICE_UNAVAILABLE");
    let page = server.thread(&key, "messages { items { text } }").await;
    assert_eq!(
        page["messages"]["items"].as_array().unwrap().len(),
        2,
        "readers go on"
    );
    rows.run("ROLLBACK").await;
    assert_eq!(rows.snapshot().await, before);
    assert_eq!(
        server.append(&key, &Turn::of_texts("t", &["c", "d"])).await["replayed"],
        false
    );
}

/// Locks what the last step of a turn writes to.
fn lock(backend: Backend) -> &'static str {
    match backend {
        Backend::Sqlite => "BEGIN IMMEDIATE",
        Backend::Postgres => "BEGIN; LOCK TABLE message IN SHARE MODE",
    }
}
