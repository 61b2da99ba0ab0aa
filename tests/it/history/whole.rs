//! A long thread, walked from its end to its start (R8).

use std::time::Instant;

use crate::support::{Database, Ended, Key, Ledger, List, Process, Turn, figures, on_both, rounds};

on_both! {
    a_thread_of_a_million_messages_is_walked_whole,
}

/// The most messages of a turn.
const TURN: usize = 100;

async fn a_thread_of_a_million_messages_is_walked_whole(db: &Database) {
    let began = Instant::now();
    let server = Process::patient(db).await;
    let (key, ledger) = (Key::of("p"), Ledger::default());
    let count = rounds(2_000, 1_000_000);
    for first in (0..count).step_by(TURN) {
        let texts: Vec<String> = (first..first + TURN).map(|n| n.to_string()).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let turn = Turn::of_texts(&format!("t{first}"), &texts);
        let ended = ledger.append(&server, &key, &turn).await;
        assert_eq!(ended, Ended::Acknowledged { replayed: false });
    }
    let list = List::of_thread(&key.agent, &server.thread_id(&key).await);
    let (mut left, mut pages, mut cursor) = (count, 0, None::<String>);
    let mut last_id = "msg-z".to_owned();
    loop {
        let page = server.rest_page(&list, 200, cursor.as_deref()).await;
        pages += 1;
        for item in page.items.iter().rev() {
            left -= 1;
            assert_eq!(item["text"], left.to_string(), "each once and in order");
            let id = item["id"].as_str().unwrap().to_owned();
            assert!(id < last_id);
            last_id = id;
        }
        assert_eq!(page.has_more, left > 0, "{left} are left");
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!((left, pages), (0, count / 200));
    let counted = [
        ("operations", count / TURN + pages),
        ("messages", count),
        ("wrong", 0),
    ];
    figures::report("R8 walk", db, began, &counted);
}
