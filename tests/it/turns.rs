//! Turns: whole or not at all, once per turn id, in one order.

mod at_once;
mod outcome;
mod replay;

use serde_json::{Value, json};

use crate::support::{Database, Key, List, TestServer, Turn, on_both};

on_both! {
    a_thread_comes_into_being_with_its_first_turn,
    a_turn_comes_back_as_it_was_stored,
    a_turn_has_1_to_100_messages,
    names_have_1_to_200_characters_and_no_control_characters,
    a_channel_is_a_lower_case_name,
    tokens_are_a_count,
    an_unknown_role_or_outcome_is_refused,
    times_have_microseconds_and_never_go_back,
}

async fn a_thread_comes_into_being_with_its_first_turn(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    assert_eq!(server.thread(&key, "id").await, Value::Null);
    let payload = server.append(&key, &Turn::of_texts("t", &["hello", "hi"])).await;
    assert_eq!(payload["replayed"], false);
    assert_eq!(payload["thread"]["messageCount"], 2);
    let id = payload["thread"]["id"].as_str().unwrap();
    assert!(id.starts_with("chat-") && uuid::Uuid::parse_str(&id[5..]).unwrap().get_version_num() == 7);
    assert_eq!(server.thread_id(&key).await, id);
}

async fn a_turn_comes_back_as_it_was_stored(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    let turn = Turn::new("t")
        .says("SYSTEM", "be kind")
        .says("USER", "hello")
        .costing(3)
        .says("TOOL", "21°")
        .says("ASSISTANT", "hi")
        .costing(0);
    let stored = server.append(&key, &turn).await;
    let thread = server.thread_id(&key).await;
    let read = server.page(&List::of_thread("support", &thread), 50, None).await;
    assert_eq!(read.texts(), ["be kind", "hello", "21°", "hi"]);
    for (read, stored) in read.items.iter().zip(stored["messages"].as_array().unwrap()) {
        assert!(read["id"].as_str().unwrap().starts_with("msg-"));
        assert_eq!(
            (read["turnId"].as_str(), &read["stopped"], &read["boundary"]),
            (Some("t"), &json!(false), &Value::Null)
        );
        for field in [
            "id",
            "turnId",
            "role",
            "content",
            "text",
            "tokens",
            "inContext",
            "createdAt",
        ] {
            assert_eq!(read[field], stored[field], "{field}");
        }
    }
    let tokens: Vec<_> = read.items.iter().map(|item| item["tokens"].clone()).collect();
    assert_eq!(tokens, [Value::Null, json!(3), Value::Null, json!(0)]);
}

async fn a_turn_has_1_to_100_messages(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    for count in [0, 101] {
        let answer = server
            .try_append(&key, &Turn::of_texts("t", &vec!["x"; count]))
            .await;
        assert_eq!(answer.code(), "BAD_USER_INPUT", "{count} messages");
        assert_eq!(answer.body["data"], json!({ "appendTurn": null }));
    }
    assert_eq!(server.thread(&key, "id").await, Value::Null);
    for count in [1, 100] {
        assert_eq!(
            server
                .say(&key, &format!("t{count}"), &vec!["x"; count])
                .await
                .len(),
            count
        );
    }
    assert_eq!(server.thread(&key, "messageCount").await["messageCount"], 101);
}

async fn names_have_1_to_200_characters_and_no_control_characters(db: &Database) {
    let server = TestServer::start(db).await;
    let long = "é".repeat(200);
    let too_long = "é".repeat(201);
    let good = [
        "x",
        &long,
        "'; DROP TABLE chat; --",
        "100%_",
        "../../x",
        "a b",
        "😀",
        "\u{202e}abc",
    ];
    for (at, name) in good.iter().enumerate() {
        let turn = Turn::of_texts(name, &["hello"]);
        server.append(&Key::new(name, "api", name), &turn).await;
        assert_eq!(
            server.page(&List::threads(name), 50, None).await.items.len(),
            1,
            "{at}"
        );
    }
    for name in ["", &too_long, "a\u{0}b", "a\nb", "\u{7f}", "\u{85}"] {
        let fine = Turn::of_texts("t", &["hello"]);
        for (key, turn) in [
            (Key::new(name, "api", "p"), &fine),
            (Key::new("a", "api", name), &fine),
            (Key::new("a", "api", "p"), &Turn::of_texts(name, &["hello"])),
        ] {
            assert_eq!(
                server.try_append(&key, turn).await.code(),
                "BAD_USER_INPUT",
                "{name:?}"
            );
        }
    }
    assert_eq!(server.thread(&Key::new("a", "api", "p"), "id").await, Value::Null);
}

async fn a_channel_is_a_lower_case_name(db: &Database) {
    let server = TestServer::start(db).await;
    let turn = Turn::of_texts("t", &["hello"]);
    for channel in ["widget", "telegram", "0", "a.b_c-d", &"x".repeat(200)] {
        server.append(&Key::new("a", channel, "p"), &turn).await;
    }
    for channel in [
        "",
        "Widget",
        "-a",
        ".a",
        "_a",
        "a b",
        "é",
        "a/b",
        &"x".repeat(201),
    ] {
        let answer = server.try_append(&Key::new("a", channel, "p"), &turn).await;
        assert_eq!(answer.code(), "BAD_USER_INPUT", "{channel:?}");
    }
    assert_eq!(server.page(&List::threads("a"), 50, None).await.items.len(), 5);
}

async fn tokens_are_a_count(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    for tokens in [json!(-1), json!(2_147_483_648_u64), json!(1.5), json!("12")] {
        let answer = server
            .try_append(&key, &Turn::of_texts("t", &["x"]).costing(tokens.clone()))
            .await;
        assert!(answer.body["errors"].is_array(), "{tokens}: {}", answer.raw);
    }
    assert_eq!(server.thread(&key, "id").await, Value::Null);
    let stored = server
        .append(&key, &Turn::of_texts("t", &["x"]).costing(i32::MAX))
        .await;
    assert_eq!(stored["messages"][0]["tokens"], i32::MAX);
}

async fn an_unknown_role_or_outcome_is_refused(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    for turn in [
        Turn::new("t").says("system ", "x"),
        Turn::new("t").says("user", "x"),
        Turn::new("t").says("DEVELOPER", "x"),
        Turn::of_texts("t", &["x"]).ending("RUNNING"),
    ] {
        let answer = server.try_append(&key, &turn).await;
        assert!(answer.body["errors"].is_array(), "{}", answer.raw);
    }
    assert_eq!(server.thread(&key, "id").await, Value::Null);
}

async fn times_have_microseconds_and_never_go_back(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    for turn in 0..10 {
        server.say(&key, &format!("t{turn}"), &["a", "b", "c"]).await;
    }
    let thread = server.thread(&key, "id createdAt lastMessageAt").await;
    let list = List::of_thread("support", thread["id"].as_str().unwrap());
    let times: Vec<String> = server
        .page(&list, 50, None)
        .await
        .items
        .iter()
        .map(|item| item["createdAt"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(times.len(), 30);
    let parsed: Vec<_> = times
        .iter()
        .map(|time| chrono::DateTime::parse_from_rfc3339(time).unwrap())
        .collect();
    assert!(parsed.is_sorted(), "{times:?}");
    // A clock's microseconds end in three zeros once in a thousand: not thirty times.
    assert!(
        parsed
            .iter()
            .any(|time| time.timestamp_subsec_micros() % 1000 != 0),
        "{times:?}"
    );
    assert!(
        parsed
            .iter()
            .all(|time| time.timestamp_subsec_nanos() % 1000 == 0),
        "{times:?}"
    );
    assert!(times.iter().all(|time| time.ends_with('Z')), "{times:?}");
    assert_eq!(thread["lastMessageAt"], times[29].as_str());
    assert!(thread["createdAt"].as_str().unwrap() <= times[0].as_str());
}
