//! What people, agents and tools say, and what they call themselves. (What comes back to the digit is in
//! `content.rs`; this is what must not get in, and what must not do anything.)

use serde_json::json;

use super::{BAD_INPUT, Stage, attack, sent::Sent};
use crate::support::{Answer, Database, Key, TestServer, Turn, on_both};

const APPEND: &str = "mutation($input: AppendTurnInput!) { appendTurn(input: $input) { replayed } }";

/// A turn of one message, as JSON text written by the test.
fn turn(message: &str) -> Sent {
    let body = format!(
        r#"{{"query":{},"variables":{{"input":{{"thread":{{"agentId":"a","channel":"api","personId":"p"}},"turnId":"t","messages":[{message}]}}}}}}"#,
        json!(APPEND)
    );
    Sent::json(body)
}

fn said(content: &str) -> Sent {
    turn(&format!(r#"{{"role":"USER","content":{content}}}"#))
}

fn text(text: &str) -> Sent {
    said(&format!(r#"{{"parts":[{{"type":"text","text":"{text}"}}]}}"#))
}

fn value(value: &str) -> Sent {
    said(&format!(r#"{{"parts":[{{"type":"data-x","v":{value}}}]}}"#))
}

on_both! {
    a_content_that_cannot_be_kept_is_refused,
    a_role_or_a_number_of_tokens_out_of_its_form_is_refused,
    an_id_out_of_its_form_is_refused_wherever_it_stands,
    what_looks_like_sql_is_a_name_like_any_other,
}

async fn a_content_that_cannot_be_kept_is_refused(db: &Database) {
    let stage = Stage::set(db).await;
    let keys: Vec<String> = (0..100_000).map(|n| format!(r#""k{n}":{n}"#)).collect();
    // A field is refused, its siblings are answered; what is no JSON is no request at all.
    let refused_fields = [
        ("a megabyte of combining marks", text(&"\u{301}".repeat(500_000))),
        ("a megabyte of emoji", text(&"👩‍👩‍👧‍👦".repeat(40_000))),
        ("a megabyte of escapes", text(&r"\u0000".repeat(200_000))),
        ("100,000 keys", value(&format!("{{{}}}", keys.join(",")))),
        (
            "65 deep",
            value(&format!("{}1{}", "[".repeat(62), "]".repeat(62))),
        ),
        (
            "a data: URL",
            said(r#"{"parts":[{"type":"file","mediaType":"text/html","url":"data:text/html,<script>"}]}"#),
        ),
        (
            "a hidden data: URL",
            said(r#"{"parts":[{"type":"image","url":"\u0001 dA\tta:text/html,x"}]}"#),
        ),
        (
            "201 parts",
            said(&format!(
                r#"{{"parts":[{}]}}"#,
                vec![r#"{"type":"data-x"}"#; 201].join(",")
            )),
        ),
        (
            "an id of its own",
            said(r#"{"parts":[{"type":"ref","kind":"x","id":7}]}"#),
        ),
    ];
    stage
        .faces(refused_fields.map(|(name, sent)| attack(name, sent, 200, BAD_INPUT)))
        .await;
    let no_requests = [
        ("a lone surrogate", text(r"\ud800")),
        ("half a pair", text(r"\udc00\ud800")),
        ("a key twice", value(r#"{"a":1,"\u0061":2}"#)),
        (
            "128 deep",
            value(&format!("{}1{}", "[".repeat(125), "]".repeat(125))),
        ),
        (
            "100,000 deep",
            value(&format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000))),
        ),
        ("not a number", value("NaN")),
        ("infinity", value("-Infinity")),
        ("a leading zero", value("01")),
        ("hexadecimal", value("0x10")),
    ];
    stage
        .faces(no_requests.map(|(name, sent)| attack(name, sent, 400, BAD_INPUT)))
        .await;
    stage.stays_unharmed().await;
}

async fn a_role_or_a_number_of_tokens_out_of_its_form_is_refused(db: &Database) {
    let stage = Stage::set(db).await;
    let fine = r#"{"parts":[{"type":"text","text":"x"}]}"#;
    for role in [
        r#""system ""#,
        r#""SYSTEM ""#,
        r#""system""#,
        r#""ROOT""#,
        r#""""#,
        "null",
        "1",
        "[]",
    ] {
        let sent = turn(&format!(r#"{{"role":{role},"content":{fine}}}"#));
        stage
            .faces([attack(format!("role {role}"), sent, 400, BAD_INPUT)])
            .await;
    }
    for (tokens, status) in [
        ("-1", 200),
        ("2147483648", 200),
        ("1e3", 400),
        ("1.5", 400),
        ("\"7\"", 400),
        ("99999999999999999999999999", 400),
    ] {
        let sent = turn(&format!(
            r#"{{"role":"USER","content":{fine},"tokens":{tokens}}}"#
        ));
        stage
            .faces([attack(format!("{tokens} tokens"), sent, status, BAD_INPUT)])
            .await;
    }
    stage.stays_unharmed().await;
}

async fn an_id_out_of_its_form_is_refused_wherever_it_stands(db: &Database) {
    let stage = Stage::set(db).await;
    let long = "x".repeat(10_000);
    for id in ["", "\u{0}", "a\u{0}b", "a\nb", "\u{7f}", "\u{85}", &long] {
        for field in ["agentId", "channel", "personId"] {
            let mut key = json!({ "agentId": "a", "channel": "api", "personId": "p" });
            key[field] = id.into();
            let messages =
                json!([{ "role": "USER", "content": { "parts": [{ "type": "text", "text": "x" }] } }]);
            let input = json!({ "thread": key, "turnId": "t", "messages": messages });
            let sent = Sent::document(APPEND, &json!({ "input": input }));
            stage
                .faces([attack(format!("{field} {id:.20?}"), sent, 200, BAD_INPUT)])
                .await;
        }
    }
    for channel in [
        "API",
        "é",
        "a b",
        "-a",
        "../x",
        "a/b",
        "a%2fb",
        "'; DROP TABLE chat; --",
    ] {
        let key = json!({ "agentId": "a", "channel": channel, "personId": "p" });
        let input = json!({ "thread": key, "turnId": "t", "messages": [{ "role": "USER", "content": { "parts": [{ "type": "text", "text": "x" }] } }] });
        let sent = Sent::document(APPEND, &json!({ "input": input }));
        stage
            .faces([attack(format!("channel {channel}"), sent, 200, BAD_INPUT)])
            .await;
    }
    for id in [
        "../x",
        "/etc/passwd",
        "a%2f..",
        "",
        "chat-",
        "chat-1",
        "msg-00000000-0000-7000-8000-000000000000",
        &long,
        "%",
        "' OR 1=1 --",
    ] {
        for document in [
            "query($id: ID!) { thread(id: $id) { id } }",
            "mutation($id: ID!) { resetThread(input: { threadId: $id }) { drawn } }",
            "mutation($id: ID!) { compactThread(input: { threadId: $id, summary: \"s\", throughMessageId: $id }) { thread { id } } }",
        ] {
            let sent = Sent::document(document, &json!({ "id": id }));
            stage
                .faces([attack(
                    format!("{id:.20} in {document:.40}"),
                    sent,
                    200,
                    BAD_INPUT,
                )])
                .await;
        }
    }
    for path in ["%00", "a%0ab", "%ff", "%c0%af", &"x".repeat(201), &long] {
        for list in ["messages", "threads", "threads/chat-1/messages"] {
            let sent = Sent::get(&format!("/agents/{path}/chat/{list}"));
            let code = |answer: &Answer| answer.code().to_owned();
            let answer = sent.to(&stage.address()).await;
            assert!(
                matches!(
                    (answer.status, code(&answer).as_str()),
                    (400, BAD_INPUT) | (404, "NOT_FOUND")
                ),
                "{path:.20} {list}: {}",
                answer.raw
            );
        }
    }
    stage.stays_unharmed().await;
}

async fn what_looks_like_sql_is_a_name_like_any_other(db: &Database) {
    let server = TestServer::start(db).await;
    let names = [
        "'; DROP TABLE message; --",
        "%",
        "_",
        "p_",
        "p%",
        "$1",
        "?",
        "\\",
        "\"",
        "''",
        "\u{202e}p",
        "p\u{301}",
        "é",
        "e\u{301}",
        "NULL",
        "../x",
    ];
    for name in names {
        server
            .append(&Key::new(name, "api", name), &Turn::of_texts("t", &[name]))
            .await;
    }
    for name in names {
        let filter = "query($id: ID!) { agent(id: $id) { threads(personId: $id) { items { agent { id } personId } hasMore } \
            messages { items { text } } } }";
        let answer = server.graphql(filter, json!({ "id": name })).await;
        assert_eq!(
            answer.data("/agent/threads/items"),
            &json!([{ "agent": { "id": name }, "personId": name }])
        );
        assert_eq!(answer.data("/agent/messages/items"), &json!([{ "text": name }]));
    }
}
