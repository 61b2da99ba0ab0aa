//! The same turn id again.

use serde_json::{Value, json};

use crate::support::client::ids;
use crate::support::{Database, Key, Process, TestServer, Turn, on_both};

on_both! {
    the_same_turn_twice_is_stored_once,
    a_turn_is_replayed_after_a_restart_and_by_another_process,
    the_same_turn_id_in_another_thread_is_another_turn,
    another_body_under_a_stored_turn_id_conflicts_and_changes_nothing,
    digits_count_and_white_space_and_escape_spelling_do_not,
}

async fn the_same_turn_twice_is_stored_once(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    let turn = Turn::of_texts("t", &["hello", "hi"]).costing(7);
    let first = server.append(&key, &turn).await;
    server.say(&key, "other", &["and", "more"]).await;
    let second = server.append(&key, &turn).await;
    assert_eq!(
        (&first["replayed"], &second["replayed"]),
        (&json!(false), &json!(true))
    );
    assert_eq!(first["messages"], second["messages"]);
    assert_eq!(second["thread"]["messageCount"], 4);
}

async fn a_turn_is_replayed_after_a_restart_and_by_another_process(db: &Database) {
    let key = Key::of("p");
    let turn = Turn::of_texts("t", &["hello", "hi"]).stopped();
    let mut one = Process::start(db, &[]).await;
    let first = one.append(&key, &turn).await;
    let other = Process::start(db, &[]).await;
    assert_eq!(other.append(&key, &turn).await["replayed"], true);
    one.kill9();
    let again = Process::start(db, &[]).await.append(&key, &turn).await;
    assert_eq!(again["replayed"], true);
    assert_eq!(ids(&again["messages"]), ids(&first["messages"]));
}

async fn the_same_turn_id_in_another_thread_is_another_turn(db: &Database) {
    let server = TestServer::start(db).await;
    let one = server.say(&Key::of("p"), "t", &["hello"]).await;
    let two = server.say(&Key::of("q"), "t", &["something else"]).await;
    assert_ne!(one, two);
}

async fn another_body_under_a_stored_turn_id_conflicts_and_changes_nothing(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    let content = json!({ "parts": [{ "type": "text", "text": "hi" }], "a": 1 });
    let turn = Turn::new("t")
        .says("USER", "hello")
        .with("ASSISTANT", content)
        .costing(7);
    server.append(&key, &turn).await;
    let before = server.thread(&key, "messageCount lastMessageAt").await;

    let other_content = |content: Value| {
        Turn::new("t")
            .says("USER", "hello")
            .with("ASSISTANT", content)
            .costing(7)
    };
    let text = json!({ "type": "text", "text": "hi" });
    for (what, other) in [
        (
            "another text",
            other_content(json!({ "parts": [{ "type": "text", "text": "ho" }], "a": 1 })),
        ),
        (
            "another order of keys",
            other_content(json!({ "a": 1, "parts": [text] })),
        ),
        (
            "another order of keys in a part",
            other_content(json!({ "parts": [{ "text": "hi", "type": "text" }], "a": 1 })),
        ),
        ("another key", other_content(json!({ "parts": [text], "b": 1 }))),
        ("another outcome", turn.clone().stopped()),
        ("other tokens", turn.clone().costing(8)),
        ("no tokens", turn.clone().costing(Value::Null)),
        ("one message more", turn.clone().says("USER", "and")),
        ("one message less", Turn::new("t").says("USER", "hello")),
        (
            "another role",
            Turn::new("t")
                .says("SYSTEM", "hello")
                .with("ASSISTANT", json!({ "parts": [text], "a": 1 }))
                .costing(7),
        ),
        (
            "another order",
            Turn::new("t")
                .with("ASSISTANT", json!({ "parts": [text], "a": 1 }))
                .costing(7)
                .says("USER", "hello"),
        ),
    ] {
        assert_eq!(server.try_append(&key, &other).await.code(), "CONFLICT", "{what}");
    }
    assert_eq!(server.thread(&key, "messageCount lastMessageAt").await, before);
    assert_eq!(server.append(&key, &turn).await["replayed"], true);
}

async fn digits_count_and_white_space_and_escape_spelling_do_not(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    let append = async |content: &str| server.try_append_json(&key, "t", &[content]).await;
    let stored = r#"{"parts":[{"type":"text","text":"é/"}],"n":1.0}"#;
    assert_eq!(append(stored).await.data("/appendTurn/replayed"), false);
    for same in [
        stored,
        r#"{ "parts" : [ {"type": "text", "text": "é/"} ] , "n": 1.0 }"#,
        r#"{"parts":[{"typ\u0065":"text","text":"\u00e9\/"}],"n":1.0}"#,
    ] {
        assert_eq!(append(same).await.data("/appendTurn/replayed"), true, "{same}");
    }
    for other in ["1", "1.00", "1e0", "10e-1"] {
        let answer = append(&stored.replace("1.0", other)).await;
        assert_eq!(answer.code(), "CONFLICT", "{other}");
    }
}
