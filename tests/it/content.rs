//! Content: kept to the digit and byte, or refused.

mod shape;
mod size;

use serde_json::{Value, json};

use crate::support::{Answer, Client, Database, Key, List, TestServer, on_both};

/// Contents whose every character has to come back.
const EXACT: &[&str] = &[
    r#"{"parts":[{"type":"text","text":"plain"}]}"#,
    r#"{"z":1,"parts":[{"type":"text","text":"x","b":2,"a":1}],"a":{"y":null,"x":[]}}"#,
    r#"{"parts":[{"type":"x","v":[12345678901234567890,123456789012345678901234567890,9007199254740993]}]}"#,
    r#"{"parts":[{"type":"x","v":[1.0,-0,-0.0,0.10,1e400,1E+5,-1e-400,3.141592653589793238462643383279]}]}"#,
    r#"{"parts":[{"type":"text","text":"a\u0000b\u0001\u001f"}],"\u0000":"\u0000"}"#,
    "{\"parts\":[{\"type\":\"text\",\"text\":\"\\\"\\\\\\n\\r\\t\\b\\f / é 😀 \u{202e} a\u{feff}b\"}]}",
    r#"{"parts":[{"type":"x","v":[true,false,null,"",{},[],{"":""}]}]}"#,
    r#"{"parts":[{"type":"x","$serde_json::private::Number":"5","$serde_json::private::RawValue":"[]"}]}"#,
    r#"{"parts":[{"type":"text","text":"'; DROP TABLE message; -- % _ \\ $1 ?"}]}"#,
    r#"{"parts":[{"type":"text","text":"<script>alert(1)</script> <img src=x onerror=alert(1)>"}]}"#,
];

/// Whether an answer holds this very text as a `content`.
pub fn holds(answer: &Answer, content: &str) -> bool {
    answer.raw.contains(&format!("\"content\":{content}"))
}

async fn refused(server: &Client, content: &str) -> Answer {
    let key = Key::of("p");
    let answer = server
        .try_append_json(
            &key,
            "t",
            &[r#"{"parts":[{"type":"text","text":"fine"}]}"#, content],
        )
        .await;
    assert!(
        answer.body["errors"].is_array(),
        "{content:.200} was taken: {:.200}",
        answer.raw
    );
    assert_eq!(answer.code(), "BAD_USER_INPUT", "{:.500}", answer.raw);
    assert_eq!(server.thread(&key, "id").await, Value::Null, "nothing was stored");
    answer
}

on_both! {
    content_comes_back_exactly_as_it_was_written,
    content_written_in_the_document_comes_back_exactly_too,
    white_space_between_tokens_is_the_only_thing_that_may_go,
    the_text_is_the_text_parts_joined_by_a_blank_line,
    a_lone_surrogate_is_refused,
    a_duplicate_key_is_refused_and_named,
    bytes_that_are_not_utf_8_are_refused,
}

async fn content_comes_back_exactly_as_it_was_written(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    let stored = server.try_append_json(&key, "t", EXACT).await;
    stored.data("/appendTurn");
    let thread = server.thread_id(&key).await;
    let lists = [List::of_agent("support"), List::of_thread("support", &thread)];
    for content in EXACT {
        assert!(holds(&stored, content), "appendTurn: {content} in {}", stored.raw);
        for list in &lists {
            let page = server.try_page(list, 50, None).await;
            assert!(holds(&page, content), "GraphQL: {content} in {}", page.raw);
            let page = server.try_rest_page(list, 50, None).await;
            assert!(holds(&page, content), "REST: {content} in {}", page.raw);
        }
    }
    let query = "query($id: ID!) { thread(id: $id) { context { messages { content } } } }";
    let context = server.graphql(query, json!({ "id": thread })).await;
    for content in EXACT {
        assert!(holds(&context, content), "context: {content} in {}", context.raw);
    }
}

async fn content_written_in_the_document_comes_back_exactly_too(db: &Database) {
    let server = TestServer::start(db).await;
    let append = async |turn: &str, value: &str| {
        let query = format!(
            r#"mutation {{ appendTurn(input: {{ thread: {{ agentId: "a", channel: "api", personId: "p" }}, turnId: "{turn}",
            messages: [{{ role: USER, content: {{ z: 1, parts: [{{ type: "x", v: {value} }}], a: 2 }} }}] }})
            {{ messages {{ content }} }} }}"#
        );
        server.graphql(&query, Value::Null).await
    };
    let content = |value: &str| format!(r#"{{"z":1,"parts":[{{"type":"x","v":{value}}}],"a":2}}"#);
    let kept = r#"[12345678901234567890,-7,"\u0000 é",null,true,{"b":[],"a":{}}]"#;
    let written = r#"[12345678901234567890, -7, "\u0000 \u00e9", null, true, { b: [], a: {} }]"#;
    let answer = append("t", written).await;
    assert!(holds(&answer, &content(kept)), "{}", answer.raw);

    let block = "\"\"\"\n    \\\"\"\" quoted\n  \n      deeper \\n\n    \"\"\"";
    let answer = append("block", block).await;
    let says = r#""\"\"\" quoted\n\n  deeper \\n""#;
    assert!(holds(&answer, &content(says)), "{}", answer.raw);

    // A number whose spelling GraphQL's parser loses may be refused, but never altered in silence.
    for (at, number) in [
        "1.0",
        "0.10",
        "-0",
        "1e3",
        "1E+3",
        "1e400",
        "123456789012345678901234567890",
    ]
    .into_iter()
    .enumerate()
    {
        let answer = append(&format!("t{at}"), number).await;
        if answer.body["errors"].is_array() {
            assert_eq!(answer.code(), "BAD_USER_INPUT", "{number}: {}", answer.raw);
            assert!(
                answer.message().contains(number),
                "the number is named: {}",
                answer.message()
            );
        } else {
            assert!(holds(&answer, &content(number)), "{number}: {}", answer.raw);
        }
    }
}

async fn white_space_between_tokens_is_the_only_thing_that_may_go(db: &Database) {
    let server = TestServer::start(db).await;
    let spaced = "{ \"parts\" : [ { \"type\" : \"text\" ,\n \"text\" : \" a  b \" } ] }";
    let answer = server.try_append_json(&Key::of("p"), "t", &[spaced]).await;
    assert_eq!(answer.data("/appendTurn/messages/0/text"), " a  b ");
    assert_eq!(
        answer.data("/appendTurn/messages/0/content").to_string(),
        r#"{"parts":[{"type":"text","text":" a  b "}]}"#
    );
}

async fn the_text_is_the_text_parts_joined_by_a_blank_line(db: &Database) {
    let server = TestServer::start(db).await;
    for (at, (content, text)) in [
        (r#"{"parts":[{"type":"text","text":"a"},{"type":"reasoning","text":"no"},{"type":"text","text":"b"}]}"#, "a\n\nb"),
        (r#"{"parts":[{"text":"\u0000\n","type":"text"},{"type":"data-x","text":7}]}"#, "\u{0}\n"),
        (r#"{"parts":[{"type":"image","url":"https://x"}]}"#, ""),
    ].into_iter().enumerate() {
        let answer = server.try_append_json(&Key::of("p"), &format!("t{at}"), &[content]).await;
        assert_eq!(answer.data("/appendTurn/messages/0/text"), text, "{content}");
    }
}

async fn a_lone_surrogate_is_refused(db: &Database) {
    let server = TestServer::start(db).await;
    for lone in [r"\ud800", r"\udc00", r"\ud800x", r"\udc00\ud800", r"\ud800\u0041"] {
        refused(
            &server,
            &format!(r#"{{"parts":[{{"type":"text","text":"{lone}"}}]}}"#),
        )
        .await;
        refused(&server, &format!(r#"{{"parts":[{{"type":"x","{lone}":1}}]}}"#)).await;
    }
    let pair = r#"{"parts":[{"type":"text","text":"\ud83d\ude00"}]}"#;
    let answer = server.try_append_json(&Key::of("p"), "t", &[pair]).await;
    assert_eq!(answer.data("/appendTurn/messages/0/text"), "😀");
}

async fn a_duplicate_key_is_refused_and_named(db: &Database) {
    let server = TestServer::start(db).await;
    for content in [
        r#"{"parts":[{"type":"text","text":"a"}],"parts":[{"type":"text","text":"b"}]}"#,
        r#"{"parts":[{"type":"text","text":"a","text":"b"}]}"#,
        r#"{"parts":[{"type":"text","text":"a","t\u0065xt":"b"}]}"#,
        r#"{"parts":[{"type":"x","v":{"deep":{"k":1,"k":1}}}]}"#,
    ] {
        let answer = refused(&server, content).await;
        assert!(answer.raw.contains("uplicate"), "{}", answer.raw);
    }
}

async fn bytes_that_are_not_utf_8_are_refused(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    let mut body = br#"{"query":"mutation($c: JSON!) { appendTurn(input: { thread: { agentId: \"support\", channel: \"widget\", personId: \"p\" }, turnId: \"t\", messages: [{ role: USER, content: $c }] }) { replayed } }","variables":{"c":{"parts":[{"type":"text","text":"X"}]}}}"#.to_vec();
    let at = body.iter().rposition(|byte| *byte == b'X').unwrap();
    body[at] = 0xff;
    let answer = server.post(body).await;
    assert!(answer.body["errors"].is_array(), "{}", answer.raw);
    assert_eq!(server.thread(&key, "id").await, Value::Null);
}
