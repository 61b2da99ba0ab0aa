//! What a part looks like, and what does not belong in one.

use super::{holds, refused};
use crate::support::{Database, Key, TestServer, on_both};

fn content(part: &str) -> String {
    format!(r#"{{"parts":[{part}]}}"#)
}

on_both! {
    a_content_is_an_object_with_a_list_of_parts,
    a_name_in_a_document_is_no_json_and_its_siblings_are_answered,
    a_known_part_has_the_fields_of_its_type,
    a_part_of_any_other_type_is_kept_with_every_key,
    telemetry_is_refused_and_told_where_to_go,
    a_data_url_is_refused_and_told_where_to_go,
}

async fn a_content_is_an_object_with_a_list_of_parts(db: &Database) {
    let server = TestServer::start(db).await;
    for wrong in [
        "null",
        "1",
        "\"text\"",
        "[]",
        "{}",
        r#"{"parts":null}"#,
        r#"{"parts":{}}"#,
        r#"{"parts":"x"}"#,
        r#"{"Parts":[{"type":"text","text":"x"}]}"#,
    ] {
        let key = Key::of("p");
        let answer = server.try_append_json(&key, "t", &[wrong]).await;
        assert!(answer.body["errors"].is_array(), "{wrong}: {}", answer.raw);
        assert!(server.thread(&key, "id").await.is_null(), "{wrong}");
    }
}

async fn a_name_in_a_document_is_no_json_and_its_siblings_are_answered(db: &Database) {
    let server = TestServer::start(db).await;
    let turn = |alias: &str, text: &str| {
        format!(
            "{alias}: appendTurn(input: {{ thread: {{ agentId: \"a\", channel: \"api\", personId: \"p\" }}, \
            turnId: \"{alias}\", messages: [{{ role: USER, content: {{ parts: [{{ type: \"text\", text: {text} }}] }} }}] }}) \
            {{ replayed }}"
        )
    };
    let mutation = format!(
        "mutation {{ {} {} }}",
        turn("wrong", "HELLO"),
        turn("right", "\"hello\"")
    );
    let answer = server.graphql(&mutation, serde_json::Value::Null).await;
    assert_eq!(answer.code(), "BAD_USER_INPUT");
    assert_eq!(
        answer.body["data"],
        serde_json::json!({ "wrong": null, "right": { "replayed": false } })
    );
}

async fn a_known_part_has_the_fields_of_its_type(db: &Database) {
    let server = TestServer::start(db).await;
    for part in [
        "1",
        "null",
        "[]",
        "{}",
        r#"{"type":1}"#,
        r#"{"text":"x"}"#,
        r#"{"type":"text"}"#,
        r#"{"type":"text","text":1}"#,
        r#"{"type":"text","text":null}"#,
        r#"{"type":"reasoning"}"#,
        r#"{"type":"tool-call","toolName":"x","input":1}"#,
        r#"{"type":"tool-call","toolCallId":"1","input":1}"#,
        r#"{"type":"tool-call","toolCallId":1,"toolName":"x","input":1}"#,
        r#"{"type":"tool-result","toolCallId":"1","output":1}"#,
        r#"{"type":"tool-result","toolCallId":"1","toolName":"x","output":1,"isError":"no"}"#,
        r#"{"type":"file","url":"https://x"}"#,
        r#"{"type":"file","mediaType":"a/b"}"#,
        r#"{"type":"file","mediaType":"a/b","url":7}"#,
        r#"{"type":"ref","kind":"trace"}"#,
        r#"{"type":"ref","id":"1"}"#,
    ] {
        let answer = refused(&server, &content(part)).await;
        assert!(
            answer.message().contains("parts[0]"),
            "the place is named: {}",
            answer.message()
        );
    }
}

async fn a_part_of_any_other_type_is_kept_with_every_key(db: &Database) {
    let server = TestServer::start(db).await;
    for (at, part) in [
        r#"{"type":"image","image":{"deep":[1.0]}}"#,
        r#"{"type":"data-weather","data":{"t":21.50},"id":7}"#,
        r#"{"type":"source-url","url":"https://example.com","sourceId":"1"}"#,
        r#"{"type":"text","text":"x","providerOptions":{"cache":{"ttl":1e3}}}"#,
        r#"{"type":"tool-call","toolCallId":"1","toolName":"x","input":null,"dynamic":true}"#,
        r#"{"type":"tool-call","toolCallId":"1","toolName":"x","input":{"url":"data:text/plain,x"}}"#,
        r#"{"type":"tool-result","toolCallId":"1","toolName":"x","output":[],"isError":true}"#,
        r#"{"type":"file","mediaType":"a/b","url":"https://x","filename":"x.pdf","size":123}"#,
        r#"{"type":"ref","kind":"trace","id":"4bf92f"}"#,
        r#"{"type":"Text","text":7}"#,
        r#"{"type":"tracer","text":"data:text/plain,x"}"#,
    ]
    .into_iter()
    .enumerate()
    {
        let answer = server
            .try_append_json(&Key::of("p"), &format!("t{at}"), &[&content(part)])
            .await;
        assert!(holds(&answer, &content(part)), "{part} in {}", answer.raw);
    }
}

async fn telemetry_is_refused_and_told_where_to_go(db: &Database) {
    let server = TestServer::start(db).await;
    for kind in ["trace", "span", "prompt", "log"] {
        let answer = refused(&server, &content(&format!(r#"{{"type":"{kind}","text":"x"}}"#))).await;
        assert!(answer.message().contains("ref"), "{}", answer.message());
    }
}

async fn a_data_url_is_refused_and_told_where_to_go(db: &Database) {
    let server = TestServer::start(db).await;
    for part in [
        r#"{"type":"file","mediaType":"text/plain","url":"data:text/plain,x"}"#,
        r#"{"type":"file","mediaType":"text/plain","url":" DATA:text/plain,x"}"#,
        r#"{"type":"image","url":"data:image/png;base64,AA=="}"#,
        r#"{"type":"image","image":[{"url":"d\u0061ta:image/png;base64,AA=="}]}"#,
    ] {
        let answer = refused(&server, &content(part)).await;
        assert!(answer.message().contains("ref"), "{}", answer.message());
    }
}
