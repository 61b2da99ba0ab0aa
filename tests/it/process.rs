//! The server as a process: how it starts and how it ends.

use futures::future::join_all;

use crate::support::{Database, Key, Process, Turn, on_both, process};

on_both! {
    a_server_that_is_asked_to_end_answers_what_it_has_begun,
    what_was_acknowledged_is_there_after_a_kill,
    a_server_without_auth_listens_on_loopback_only,
}

async fn a_server_that_is_asked_to_end_answers_what_it_has_begun(db: &Database) {
    let mut server = Process::start(db, &[]).await;
    let client = server.client().clone();
    client.say(&Key::of("p"), "first", &["hello"]).await;
    let writing = tokio::spawn(async move {
        let turns: Vec<Turn> = (0..50)
            .map(|n| Turn::of_texts(&format!("t{n}"), &["x"; 20]))
            .collect();
        let key = Key::of("p");
        join_all(turns.iter().map(|turn| client.append_unless_gone(&key, turn))).await
    });
    while server.thread(&Key::of("p"), "messageCount").await["messageCount"] == 1 {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    let status = tokio::task::block_in_place(|| server.terminate());
    assert!(status.success(), "{status}: {}", server.output());
    let acknowledged = writing
        .await
        .unwrap()
        .into_iter()
        .filter(|stored| *stored)
        .count();
    assert!(acknowledged > 0, "some were answered");

    let again = Process::start(db, &[]).await;
    let count = again.thread(&Key::of("p"), "messageCount").await["messageCount"]
        .as_u64()
        .unwrap();
    let acknowledged = acknowledged as u64;
    assert!(
        count > 20 * acknowledged,
        "{count} messages, {acknowledged} turns acknowledged"
    );
    assert_eq!(count % 20, 1, "whole turns");
}

async fn what_was_acknowledged_is_there_after_a_kill(db: &Database) {
    let key = Key::of("p");
    let mut acknowledged = 0;
    for round in 0..3 {
        let mut server = Process::start(db, &[]).await;
        let client = server.client().clone();
        let key_to_write = key.clone();
        let writing = tokio::spawn(async move {
            let mut stored = 0;
            loop {
                let turn = Turn::of_texts(&format!("{round}.{stored}"), &["a", "b", "c"]);
                if !client.append_unless_gone(&key_to_write, &turn).await {
                    return stored;
                }
                stored += 1;
            }
        });
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        server.kill9();
        acknowledged += writing.await.unwrap();
        let server = Process::start(db, &[]).await;
        let count = server.thread(&key, "messageCount").await["messageCount"]
            .as_i64()
            .unwrap();
        assert!(
            count >= 3 * acknowledged && count % 3 == 0,
            "{count} messages, {acknowledged} turns"
        );
        // The turn that was written and not answered counts from now on.
        acknowledged = count / 3;
    }
    assert!(acknowledged > 10, "the writers wrote: {acknowledged}");
}

async fn a_server_without_auth_listens_on_loopback_only(db: &Database) {
    for listen in ["0.0.0.0:0", "[::]:0"] {
        let output = process::threadline(db)
            .args(["serve", "--listen", listen])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{listen}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("listen") && said.contains("loopback"), "{said}");
    }
}
