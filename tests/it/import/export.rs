//! Out and in again.

use serde_json::json;

use crate::support::command::{Ran, export, import};
use crate::support::{Backend, Database, Key, Process, Turn, on_both, with_database};

use super::{line, turns};

on_both! {
    an_export_imported_elsewhere_and_exported_again_has_the_same_bytes_and_pages,
    an_import_run_twice_changes_nothing,
    an_export_can_be_narrowed,
    a_turn_that_was_imported_counts_as_stored,
    an_import_that_was_interrupted_is_finished_by_running_it_again,
    an_export_goes_on_past_a_page_of_a_thread,
}

const ODD: &str = r#"{"z":1.0,"parts":[{"type":"text","text":"\u0000 é 😀 \" \\ <b>","n":[1e400,-0,12345678901234567890,0.10]},{"type":"data-x","v":null}],"a":{"b":[]}}"#;

/// A thread with everything in it that a thread can have.
async fn fill(server: &Process) -> Key {
    let key = Key::new("a \"quoted\" agent", "telegram", "pérson/1?x=%20'");
    server.say(&key, "t1", &["hello", "hi"]).await;
    let odd = server.try_append_json(&key, "t2", &[ODD]).await;
    assert_eq!(odd.data("/appendTurn/replayed"), false);
    let stopped = Turn::of_texts("t3", &["and then", "well, I was"]).stopped();
    server.append(&key, &stopped.costing(7)).await;
    let thread = server.thread_id(&key).await;
    let through = server.say(&key, "t4", &["a", "b"]).await;
    server
        .compact(&thread, "what was said: \u{1}", &through[1])
        .await
        .data("/compactThread");
    server.say(&key, "t5", &["c", "d"]).await;
    server.reset(&thread).await.data("/resetThread");
    let late = Turn::of_texts("t6", &["I did not", "know of the reset"]).began_under(None);
    server.append(&key, &late).await;
    for person in ["p1", "p2", "p3"] {
        server.say(&Key::of(person), "t", &["x", "y"]).await;
    }
    key
}

async fn an_export_imported_elsewhere_and_exported_again_has_the_same_bytes_and_pages(db: &Database) {
    let server = Process::start(db, &[]).await;
    let key = fill(&server).await;
    let fields = "id createdAt lastMessageAt messageCount boundary { id } context { summary messages { id text } tokens } \
        messages(limit: 200) { items { id turnId role content text tokens stopped inContext createdAt boundary { reason summary throughMessageId } } }";
    let thread = server.thread(&key, fields).await;
    let exported = export(db);
    assert_eq!(
        exported
            .lines()
            .filter(|line| line.contains("\"type\":\"thread\""))
            .count(),
        4
    );
    assert!(exported.contains(ODD), "{exported}");
    for backend in [Backend::Sqlite, Backend::Postgres] {
        with_database(backend, async |other: &Database| {
            import(other, &exported).ok();
            assert_eq!(export(other), exported);
            let server = Process::start(other, &[]).await;
            assert_eq!(server.thread(&key, fields).await, thread);
            // And the thread goes on where it was.
            server.say(&key, "t7", &["on"]).await;
            let again = server
                .try_append(&key, &Turn::of_texts("t1", &["hello", "hi"]))
                .await;
            assert_eq!(again.data("/appendTurn/replayed"), true);
        })
        .await;
    }
}

async fn an_import_run_twice_changes_nothing(db: &Database) {
    let file = db.folder().join("in.jsonl");
    let key = Key::of("p");
    let bare = line(&key, 9, r#""role":"user","text":"no ids at all""#);
    let boundary = line(&key, 20, r#""boundary":{"reason":"reset"}"#);
    std::fs::write(&file, turns(&key, 1..9) + &bare + &bare + &boundary).unwrap();
    let file = file.to_str().unwrap();
    let ran = Ran::threadline(db, &["import", file], "").ok();
    assert!(ran.err.contains("imported 11 turns"), "{}", ran.err);
    let once = export(db);
    assert_eq!(once.lines().count(), 1 + 16 + 2 + 1);
    let ran = Ran::threadline(db, &["import", file], "").ok();
    assert!(
        ran.err
            .contains("imported 0 turns and boundaries; 11 were there already"),
        "{}",
        ran.err
    );
    assert_eq!(export(db), once);
    import(db, &once).ok();
    assert_eq!(export(db), once);
}

async fn an_export_can_be_narrowed(db: &Database) {
    let (one, other) = (Key::new("a1", "api", "p1"), Key::new("a2", "api", "p1"));
    let third = Key::new("a2", "widget", "p2");
    import(
        db,
        &[turns(&one, 1..2), turns(&other, 2..4), turns(&third, 3..6)].concat(),
    )
    .ok();
    let lines = |arguments: &[&str]| {
        let ran = Ran::threadline(db, &[&["export"], arguments].concat(), "").ok();
        ran.out.lines().count()
    };
    assert_eq!(lines(&[]), 3 + 2 + 4 + 6);
    assert_eq!(lines(&["--agent", "a2"]), 2 + 4 + 6);
    assert_eq!(lines(&["--person", "p1"]), 2 + 2 + 4);
    assert_eq!(lines(&["--agent", "a2", "--person", "p1"]), 1 + 4);
    let first = export(db);
    let thread: serde_json::Value = serde_json::from_str(first.lines().next().unwrap()).unwrap();
    assert_eq!(lines(&["--thread", thread["id"].as_str().unwrap()]), 1 + 2);
    let said = Ran::threadline(db, &["export", "--agent", "nobody"], "").refused(1);
    assert!(said.contains("no thread"), "{said}");
}

async fn a_turn_that_was_imported_counts_as_stored(db: &Database) {
    let key = Key::of("p");
    import(db, &turns(&key, [5])).ok();
    let server = Process::start(db, &[]).await;
    let again = server
        .append(&key, &Turn::of_texts("t5", &["question 5", "answer 5"]))
        .await;
    assert_eq!(again["replayed"], true);
    assert_eq!(again["messages"][1]["createdAt"], "2026-03-01T10:00:05.000000Z");
    let other = server
        .try_append(&key, &Turn::of_texts("t5", &["question 5", "no"]))
        .await;
    assert_eq!(other.code(), "CONFLICT");
}

async fn an_import_that_was_interrupted_is_finished_by_running_it_again(db: &Database) {
    let lines: String = ["p1", "p2", "p3"]
        .map(|person| turns(&Key::of(person), 1..50))
        .concat();
    let half: String = lines.lines().take(150).map(|line| format!("{line}\n")).collect();
    import(db, &half).ok();
    let ran = import(db, &lines).ok();
    assert!(ran.err.contains("75 were there already"), "{}", ran.err);
    let exported = export(db);
    assert_eq!(exported.lines().count(), 3 + 3 * 98);
    let thread = serde_json::from_str::<serde_json::Value>(exported.lines().next().unwrap()).unwrap();
    assert_eq!(thread["createdAt"], json!("2026-03-01T10:00:01.000000Z"));
}

async fn an_export_goes_on_past_a_page_of_a_thread(db: &Database) {
    let lines = turns(&Key::of("p"), 1..401);
    import(db, &lines).ok();
    let exported = export(db);
    assert_eq!(exported.lines().count(), 801);
    let questions = exported
        .lines()
        .filter(|line| line.contains("question"))
        .enumerate();
    for (index, line) in questions {
        assert!(line.contains(&format!("question {}\"", index + 1)), "{line}");
    }
}
