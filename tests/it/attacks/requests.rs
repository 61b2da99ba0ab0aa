//! Requests that only look like GraphQL over HTTP.

use serde_json::{Value, json};

use super::{BAD_INPUT, Stage, attack, sent::Sent};
use crate::support::{Database, on_both};

/// Writes, if it is run: a turn of a thread that is not there.
const MUTATION: &str = "mutation { appendTurn(input: { thread: { agentId: \"a\", channel: \"api\", personId: \"p\" }, \
    turnId: \"t\", messages: [{ role: USER, content: { parts: [{ type: \"text\", text: \"x\" }] } }] }) { replayed } }";

pub fn mutation() -> String {
    json!({ "query": MUTATION }).to_string()
}

on_both! {
    a_mutation_by_anything_but_a_post_of_json_is_refused,
    a_body_that_is_no_request_is_refused,
}

async fn a_mutation_by_anything_but_a_post_of_json_is_refused(db: &Database) {
    let stage = Stage::set(db).await;
    for content_type in [
        "",
        "text/plain",
        "text/plain; application/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonp",
        "application/graphql",
        "application/json-patch+json",
        "application/json; charset=utf-16",
        "application/json, text/plain",
        "\u{0}",
    ] {
        let header = match content_type {
            "" => "x-none: 1".to_owned(),
            some => format!("content-type: {some}"),
        };
        let status = if content_type == "\u{0}" { 400 } else { 415 };
        let code = if status == 415 { BAD_INPUT } else { "" };
        stage
            .faces([attack(
                format!("content type {content_type:?}"),
                Sent::post(&header, mutation()),
                status,
                code,
            )])
            .await;
    }
    let upload = format!(
        "--x\r\ncontent-disposition: form-data; name=\"operations\"\r\n\r\n{}\r\n--x\r\ncontent-disposition: form-data; name=\"map\"\r\n\r\n{{}}\r\n--x--\r\n",
        mutation()
    );
    let form = format!("query={}", MUTATION.replace(' ', "+"));
    stage
        .faces([
            attack("a GET", Sent::by_get(MUTATION, &Value::Null), 405, BAD_INPUT),
            attack("a GET of a second operation", Sent::get("/graphql?query=query+a{__typename}mutation+b{__typename}&operationName=b"), 405, BAD_INPUT),
            attack("a HEAD", Sent::raw("HEAD /graphql?query=mutation{__typename} HTTP/1.1", ""), 405, ""),
            attack("a PUT", Sent::raw(format!("PUT /graphql HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: {}", mutation().len()), mutation()), 405, BAD_INPUT),
            attack("a method of nobody's", Sent::raw("HACK /graphql HTTP/1.1", ""), 405, BAD_INPUT),
            attack("a method that is to be overridden", Sent::raw(format!("GET /graphql HTTP/1.1\r\nx-http-method-override: POST\r\ncontent-type: application/json\r\ncontent-length: {}", mutation().len()), mutation()), 400, BAD_INPUT),
            attack("an upload", Sent::post("content-type: multipart/form-data; boundary=x", upload), 415, BAD_INPUT),
            attack("a form", Sent::post("content-type: application/x-www-form-urlencoded", form), 415, BAD_INPUT),
            attack("a script's callback", Sent::get("/graphql?callback=alert&query="), 400, BAD_INPUT),
        ])
        .await;
    stage.stays_unharmed().await;
}

async fn a_body_that_is_no_request_is_refused(db: &Database) {
    let stage = Stage::set(db).await;
    let one = mutation();
    let bodies: [(&str, Vec<u8>); 24] = [
        ("nothing", "".into()),
        ("null", "null".into()),
        ("a number", "1".into()),
        ("a string", "\"{__typename}\"".into()),
        ("half an object", "{".into()),
        ("an empty object", "{}".into()),
        ("an empty batch", "[]".into()),
        ("a batch of two", format!("[{one},{one}]").into()),
        (
            "a batch of 10,000",
            format!("[{}{one}]", format!("{one},").repeat(9_999)).into(),
        ),
        ("two requests", format!("{one}{one}").into()),
        ("a byte order mark", format!("\u{feff}{one}").into()),
        ("UTF-16", one.encode_utf16().flat_map(u16::to_le_bytes).collect()),
        ("no UTF-8", b"{\"query\":\"{a(x:\\\"\xff\\\")}\"}".into()),
        (
            "an overlong slash",
            b"{\"query\":\"{a(x:\\\"\xc0\xaf\\\")}\"}".into(),
        ),
        (
            "a key twice",
            r#"{"query":"{__typename}","query":"{__typename}"}"#.into(),
        ),
        ("a query of a number", r#"{"query":1}"#.into()),
        (
            "variables of a string",
            r#"{"query":"{__typename}","variables":"x"}"#.into(),
        ),
        (
            "a variable twice",
            r#"{"query":"{__typename}","variables":{"a":1,"a":2}}"#.into(),
        ),
        (
            "a lone surrogate",
            r#"{"query":"{__typename}","variables":{"a":"\ud800"}}"#.into(),
        ),
        (
            "a name of an object",
            r#"{"query":"{__typename}","operationName":{}}"#.into(),
        ),
        ("a comma too many", r#"{"query":"{__typename}",}"#.into()),
        ("other quotes", r"{'query':'{__typename}'}".into()),
        (
            "100,000 nested lists",
            format!(
                "{{\"query\":\"{{a}}\",\"variables\":{{\"a\":{}}}}}",
                "[".repeat(100_000)
            )
            .into(),
        ),
        (
            "a million values",
            format!(
                "{{\"query\":\"{{a}}\",\"variables\":{{\"a\":[1{}]}}}}",
                ",1".repeat(1_000_000)
            )
            .into(),
        ),
    ];
    stage
        .faces(bodies.map(|(name, body)| attack(name, Sent::json(body), 400, BAD_INPUT)))
        .await;
    let odd_queries = [
        ("no query", "".to_owned()),
        ("an empty query", "?query=".to_owned()),
        ("a query twice", "?query={a}&query={a}".to_owned()),
        ("variables of a list", "?query={a}&variables=[]".to_owned()),
        ("half the variables", "?query={a}&variables={".to_owned()),
        (
            "a nest of variables",
            format!("?query={{a}}&variables={{%22a%22:{}}}", "[".repeat(20_000)),
        ),
        ("extensions of a number", "?query={a}&extensions=1".to_owned()),
        ("no UTF-8 in the variables", "?query={a}&variables=%ff".to_owned()),
    ];
    stage
        .faces(
            odd_queries
                .map(|(name, query)| attack(name, Sent::get(&format!("/graphql{query}")), 400, BAD_INPUT)),
        )
        .await;
    stage.stays_unharmed().await;
}
