//! The proof itself: it finds whatever can be wrong with a thread, and nothing where nothing is.

use serde_json::{Value, json};

use crate::support::ledger::Wrong;
use crate::support::{Key, Ledger, Turn};

/// Three turns of two messages, of which the last was never answered.
fn written() -> (Ledger, Vec<Value>) {
    let ledger = Ledger::default();
    let mut rows = Vec::new();
    for n in 0..3 {
        let turn = turn(n);
        ledger.ask(&key(), &turn);
        let stored = stored(n, 10 + 2 * n);
        if n < 2 {
            let ids = stored.iter().map(|row| row["id"].as_str().unwrap().to_owned());
            ledger.acknowledge(&key(), &turn, ids.collect(), false);
        }
        rows.extend(stored);
    }
    (ledger, rows)
}

fn key() -> Key {
    Key::of("p")
}

fn turn(n: usize) -> Turn {
    Turn::of_texts(&format!("t{n}"), &["a", "b"])
}

/// A turn's rows, as REST gives them, with ids from a number on.
fn stored(n: usize, id: usize) -> Vec<Value> {
    let rows = turn(n).messages().to_vec().into_iter().enumerate();
    let row = |(at, message): (usize, Value)| {
        json!({ "id": format!("msg-{:04}", id + at), "turnId": format!("t{n}"), "createdAt": "2024",
            "role": message["role"].as_str().unwrap().to_lowercase(), "content": message["content"] })
    };
    rows.map(row).collect()
}

/// What is found when the rows are changed before they are compared.
fn found(change: impl FnOnce(&mut Vec<Value>)) -> Vec<Wrong> {
    let (ledger, mut rows) = written();
    change(&mut rows);
    let wrong = ledger.compare(&key(), &rows).wrong;
    wrong.into_iter().map(|(wrong, _)| wrong).collect()
}

#[test]
fn nothing_is_found_where_nothing_is_wrong() {
    assert_eq!(found(|_| ()), []);
    assert_eq!(
        found(|rows| rows.truncate(4)),
        [],
        "what was not acknowledged may be absent"
    );
}

#[test]
fn what_is_lost_doubled_or_half_there_is_found() {
    assert_eq!(found(|rows| drop(rows.drain(2..4))), [Wrong::Lost]);
    assert_eq!(found(|rows| rows.extend(stored(0, 20))), [Wrong::Doubled]);
    assert_eq!(
        found(|rows| drop(rows.pop())),
        [Wrong::Half],
        "though never acknowledged"
    );
    assert_eq!(
        found(|rows| rows[1]["content"]["parts"][0]["text"] = "c".into()),
        [Wrong::Half]
    );
    assert_eq!(found(|rows| rows[1]["role"] = "user".into()), [Wrong::Half]);
    assert_eq!(
        found(|rows| rows[5]["turnId"] = "t9".into()),
        [Wrong::Half, Wrong::Unknown]
    );
}

#[test]
fn what_nobody_sent_is_found() {
    assert_eq!(found(|rows| rows.extend(stored(7, 20))), [Wrong::Unknown]);
    let boundary = json!({ "id": "msg-0020", "turnId": null, "createdAt": "2024" });
    assert_eq!(found(|rows| rows.push(boundary)), [Wrong::Unknown]);
}

#[test]
fn what_is_not_in_order_is_found() {
    assert_eq!(
        found(|rows| rows[0]["createdAt"] = "2025".into()),
        [Wrong::Disordered],
        "times go back"
    );
    assert_eq!(
        found(|rows| rows[0]["id"] = "msg-0011".into()).len(),
        2,
        "ids are no order, and others"
    );
    let (ledger, rows) = written();
    let swapped: Vec<Value> = [&rows[2..4], &rows[0..2]].concat();
    let wrong = ledger.compare(&key(), &swapped).wrong;
    assert!(
        wrong.iter().any(|(_, said)| said.contains("was asked for after")),
        "the second turn was asked for when the first had been acknowledged: {wrong:?}"
    );
}

#[test]
fn two_answers_that_differ_are_found() {
    let (ledger, rows) = written();
    ledger.acknowledge(&key(), &turn(0), vec!["msg-0010".to_owned()], true);
    assert_eq!(ledger.compare(&key(), &rows).count(Wrong::Half), 1, "other ids");
    let (ledger, rows) = written();
    let ids = vec!["msg-0010".to_owned(), "msg-0011".to_owned()];
    ledger.acknowledge(&key(), &turn(0), ids, false);
    assert_eq!(
        ledger.compare(&key(), &rows).count(Wrong::Doubled),
        1,
        "new twice"
    );
}
