//! How large and how deep a content may be.

use super::refused;
use crate::support::{Database, Key, TestServer, on_both};

/// A content that nests `depth` deep, itself counted as 1.
fn nested(depth: usize) -> String {
    let inner = format!("{}{}", "[".repeat(depth - 3), "]".repeat(depth - 3));
    format!(r#"{{"parts":[{{"type":"x","v":{inner}}}]}}"#)
}

/// A content of so many bytes of JSON.
fn sized(bytes: usize) -> String {
    let frame = r#"{"parts":[{"type":"text","text":""}]}"#.len();
    format!(
        r#"{{"parts":[{{"type":"text","text":"{}"}}]}}"#,
        "x".repeat(bytes - frame)
    )
}

on_both! {
    content_may_nest_64_deep_and_no_deeper,
    a_message_may_have_256_kib_of_json_and_not_a_byte_more,
    a_turn_may_have_2_mib_of_json_and_not_a_byte_more,
    a_content_has_1_to_200_parts,
    many_keys_are_refused_or_kept_in_no_time,
}

async fn content_may_nest_64_deep_and_no_deeper(db: &Database) {
    let server = TestServer::start(db).await;
    for depth in [65, 66, 100, 127, 128, 129, 1000, 100_000] {
        refused(&server, &nested(depth)).await;
    }
    let answer = server.try_append_json(&Key::of("p"), "t", &[&nested(64)]).await;
    assert_eq!(
        answer.data("/appendTurn/messages/0/content").to_string(),
        nested(64)
    );
}

async fn a_message_may_have_256_kib_of_json_and_not_a_byte_more(db: &Database) {
    const MOST: usize = 256 * 1024;
    let server = TestServer::start(db).await;
    refused(&server, &sized(MOST + 1)).await;
    for bytes in [MOST - 1, MOST] {
        let answer = server
            .try_append_json(&Key::of("p"), &format!("t{bytes}"), &[&sized(bytes)])
            .await;
        assert_eq!(
            answer.data("/appendTurn/messages/0/content").to_string().len(),
            bytes
        );
    }
}

async fn a_turn_may_have_2_mib_of_json_and_not_a_byte_more(db: &Database) {
    const MESSAGE: usize = 256 * 1024;
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    let full = sized(MESSAGE);
    let turn = |last: usize| {
        let last = sized(last);
        let server = &server;
        let key = &key;
        let full = full.as_str();
        async move {
            let contents = [full, full, full, full, full, full, full, "", &last];
            let half = sized(MESSAGE - 100);
            let contents = contents.map(|content| {
                if content.is_empty() {
                    half.as_str()
                } else {
                    content
                }
            });
            server
                .try_append_json(key, &format!("t{}", last.len()), &contents)
                .await
        }
    };
    assert_eq!(turn(101).await.code(), "BAD_USER_INPUT");
    assert_eq!(turn(100).await.data("/appendTurn/replayed"), false);
    assert_eq!(turn(99).await.data("/appendTurn/replayed"), false);
}

async fn a_content_has_1_to_200_parts(db: &Database) {
    let server = TestServer::start(db).await;
    let parts = |count: usize| {
        format!(
            r#"{{"parts":[{}]}}"#,
            vec![r#"{"type":"text","text":"x"}"#; count].join(",")
        )
    };
    for count in [0, 201] {
        refused(&server, &parts(count)).await;
    }
    for count in [1, 200] {
        let answer = server
            .try_append_json(&Key::of("p"), &format!("t{count}"), &[&parts(count)])
            .await;
        assert_eq!(
            answer
                .data("/appendTurn/messages/0/content/parts")
                .as_array()
                .unwrap()
                .len(),
            count
        );
    }
}

async fn many_keys_are_refused_or_kept_in_no_time(db: &Database) {
    let server = TestServer::start(db).await;
    let keys = |count: usize| {
        let keys: Vec<String> = (0..count).map(|n| format!(r#""k{n}":{n}"#)).collect();
        format!(r#"{{"parts":[{{"type":"x",{}}}]}}"#, keys.join(","))
    };
    let start = std::time::Instant::now();
    refused(&server, &keys(100_000)).await;
    let kept = keys(15_000);
    let answer = server.try_append_json(&Key::of("p"), "t", &[&kept]).await;
    assert_eq!(answer.data("/appendTurn/messages/0/content").to_string(), kept);
    // Something that grows with the square of the keys takes minutes.
    assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
}
