//! COMPLETED, STOPPED and FAILED.

use serde_json::{Value, json};

use crate::support::{Database, Key, List, TestServer, Turn, on_both};

fn stopped_marks(payload: &Value) -> Vec<bool> {
    let messages = payload["messages"].as_array().unwrap();
    messages
        .iter()
        .map(|message| message["stopped"].as_bool().unwrap())
        .collect()
}

on_both! {
    a_stopped_turn_marks_its_last_assistant_message,
    a_stopped_turn_without_an_assistant_message_marks_nothing,
    an_assistant_message_of_empty_texts_is_kept_only_of_a_stopped_turn,
    a_failed_turn_stores_nothing_not_even_the_thread,
    a_failed_turn_of_a_stored_id_conflicts,
}

async fn a_stopped_turn_marks_its_last_assistant_message(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    let turn = Turn::new("t")
        .says("USER", "go")
        .says("ASSISTANT", "one")
        .says("ASSISTANT", "tw")
        .says("TOOL", "x")
        .stopped();
    let stored = server.append(&key, &turn).await;
    assert_eq!(stopped_marks(&stored), [false, false, true, false]);
    let list = List::of_agent("support");
    let read = server.page(&list, 50, None).await;
    assert_eq!(read.items[2]["stopped"], true);
    assert_eq!(
        server.context(&key, "").await["messages"]
            .as_array()
            .unwrap()
            .len(),
        4
    );
}

async fn a_stopped_turn_without_an_assistant_message_marks_nothing(db: &Database) {
    let server = TestServer::start(db).await;
    let turn = Turn::new("t").says("USER", "go").says("TOOL", "x").stopped();
    let stored = server.append(&Key::of("p"), &turn).await;
    assert_eq!(stopped_marks(&stored), [false, false]);
}

async fn an_assistant_message_of_empty_texts_is_kept_only_of_a_stopped_turn(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    let turn = |id: &str| {
        let empty = json!([{ "type": "text", "text": "" }, { "type": "text", "text": "" }]);
        Turn::new(id).says("USER", "go").with_parts("ASSISTANT", empty)
    };
    assert_eq!(server.try_append(&key, &turn("t")).await.code(), "BAD_USER_INPUT");
    let stored = server.append(&key, &turn("t").stopped()).await;
    assert_eq!(stopped_marks(&stored), [false, true]);
    // Beside something that is not text it says something, and a person may say nothing.
    let shown = json!([{ "type": "text", "text": "" }, { "type": "image", "id": "7" }]);
    server
        .append(&key, &Turn::new("u").with_parts("ASSISTANT", shown))
        .await;
    server.append(&key, &Turn::new("v").says("USER", "")).await;
}

async fn a_failed_turn_stores_nothing_not_even_the_thread(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    let failed = Turn::of_texts("t", &["hello", "oops"]).failed();
    let payload = server.append(&key, &failed).await;
    assert_eq!(
        (&payload["thread"], &payload["messages"], &payload["replayed"]),
        (&Value::Null, &json!([]), &json!(false))
    );
    assert_eq!(server.thread(&key, "id").await, Value::Null);

    // It may have failed before anything was said; any other turn says something.
    let silent = server.append(&key, &Turn::new("t").failed()).await;
    assert_eq!(silent["messages"], json!([]));
    for turn in [Turn::new("t"), Turn::new("t").stopped()] {
        assert_eq!(server.try_append(&key, &turn).await.code(), "BAD_USER_INPUT");
    }

    // Its id is free for another try.
    server.say(&key, "t", &["hello", "hi"]).await;
    let payload = server
        .append(&key, &Turn::of_texts("u", &["again"]).failed())
        .await;
    assert_eq!(payload["thread"]["messageCount"], 2);
    assert_eq!(payload["messages"], json!([]));
}

async fn a_failed_turn_of_a_stored_id_conflicts(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    let turn = Turn::of_texts("t", &["hello", "hi"]);
    server.append(&key, &turn).await;
    let answer = server.try_append(&key, &turn.failed()).await;
    assert_eq!(answer.code(), "CONFLICT");
    assert_eq!(server.thread(&key, "messageCount").await["messageCount"], 2);
}
