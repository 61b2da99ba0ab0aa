//! What the log says, and that a request's lines can be found by the id that its answer carries.

use std::time::Duration;

use reqwest::RequestBuilder;
use serde_json::Value;

use crate::support::rows::Rows;
use crate::support::{Backend, Database, Key, Process, TestServer, Turn, on_both, with_database};

on_both! {
    a_requests_lines_are_found_by_its_id,
    a_requests_lines_are_found_by_its_id_while_it_is_traced,
    a_failure_is_told_with_the_requests_id_also_when_little_is_logged,
}

/// The id that an answer carries.
async fn id_of(request: RequestBuilder) -> String {
    let answer = request.send().await.unwrap();
    let id = answer.headers().get("x-request-id").expect("an id");
    id.to_str().unwrap().to_owned()
}

/// The lines of a request, each of them JSON.
fn lines_of(server: &Process, id: &str) -> Vec<Value> {
    let output = server.output();
    let lines = output
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{error} in {line}")));
    lines
        .filter(|line| line["spans"][0]["request_id"] == id)
        .collect()
}

/// A log is written by another thread than the answer is.
async fn until(is_so: impl Fn() -> bool, what: &str) {
    for _ in 0..500 {
        if is_so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("never: {what}");
}

#[tokio::test]
async fn every_answer_carries_a_request_id() {
    with_database(Backend::Sqlite, async |db: &Database| {
        let server = TestServer::start(db).await;
        let get = |path: &str| server.http().get(server.url(path));
        let post = || server.http().post(server.url("/graphql"));
        for request in [
            get("/healthz"),
            get("/readyz"),
            get("/graphiql"),
            get("/nowhere"),
            get("/agents/a/chat/messages?limit=0"),
            get("/graphql?query={viewer{role}}"),
            get("/graphql?query=mutation{x}"),
            post(),
            post()
                .header("content-type", "application/json")
                .body("{\"query\":\"{\"}"),
            post().header("content-encoding", "gzip"),
            post().body("x".repeat(5 << 20)),
            get("/healthz").header("host", "elsewhere.example"),
            server.http().patch(server.url("/graphql")),
        ] {
            let made = id_of(request.try_clone().unwrap()).await;
            let is_hexadecimal = made.bytes().all(|byte| byte.is_ascii_hexdigit());
            assert!(made.len() == 32 && is_hexadecimal, "{made}");
            let ours = id_of(
                request
                    .try_clone()
                    .unwrap()
                    .header("x-request-id", "our.own_id-1"),
            )
            .await;
            assert_eq!(ours, "our.own_id-1");
            let odd = id_of(request.header("x-request-id", "a b{}")).await;
            assert_ne!(odd, "a b{}");
        }
    })
    .await;
}

async fn a_requests_lines_are_found_by_its_id(db: &Database) {
    find_lines(db, "--otel-endpoint=").await;
}

async fn a_requests_lines_are_found_by_its_id_while_it_is_traced(db: &Database) {
    find_lines(db, "--otel-endpoint=http://127.0.0.1:1").await;
}

async fn find_lines(db: &Database, traces: &str) {
    let server = Process::start(db, &["--log-format=json", "--log-level=debug", traces]).await;
    let key = Key::of("p");
    server.say(&key, "t", &["hello"]).await;
    let path = "/agents/support/chat/messages?limit=1";
    let id = id_of(server.http().get(server.url(path))).await;
    let is_told = || {
        lines_of(&server, &id)
            .iter()
            .any(|line| line["message"] == "answered")
    };
    until(is_told, "the request is told").await;

    let lines = lines_of(&server, &id);
    let answered = lines.iter().find(|line| line["message"] == "answered").unwrap();
    for (field, value) in [
        ("method", Value::from("GET")),
        ("route", "/agents/{agent_id}/chat/messages".into()),
        ("operation", "GET /agents/{agent_id}/chat/messages".into()),
        ("status", 200.into()),
        ("code", "OK".into()),
        ("level", "DEBUG".into()),
    ] {
        assert_eq!(answered[field], value, "{answered}");
    }
    assert!(answered["duration_ms"].as_f64().unwrap() > 0.0, "{answered}");
    assert!(answered["timestamp"].is_string(), "{answered}");
    // What its SQL statements say, in tasks of their own, is found as well.
    let statements = lines.iter().filter(|line| line["target"] == "sqlx::query");
    assert!(statements.count() >= 2, "{lines:?}");
}

async fn a_failure_is_told_with_the_requests_id_also_when_little_is_logged(db: &Database) {
    let server = Process::start(
        db,
        &[
            "--log-format=json",
            "--log-level=info,threadline::http=error,threadline::graphql=error",
            "--database-lock-timeout=100ms",
        ],
    )
    .await;
    let key = Key::of("p");
    server.say(&key, "first", &["hello"]).await;
    let rows = Rows::of(db).await;
    rows.run(match db.backend {
        Backend::Sqlite => "BEGIN IMMEDIATE",
        Backend::Postgres => "BEGIN; LOCK TABLE message IN SHARE MODE",
    })
    .await;
    let query = "mutation($input: AppendTurnInput!) { appendTurn(input: $input) { replayed } }";
    let body = serde_json::json!({ "query": query, "variables": { "input": Turn::of_texts("t", &["x"]).input(&key) } });
    let id = id_of(server.http().post(server.url("/graphql")).json(&body)).await;
    rows.run("ROLLBACK").await;
    until(|| !lines_of(&server, &id).is_empty(), "the failure is told").await;
    let lines = lines_of(&server, &id);
    assert_eq!(lines.len(), 1, "once: {lines:?}");
    assert_eq!(
        (&lines[0]["level"], &lines[0]["code"]),
        (&"ERROR".into(), &"SERVICE_UNAVAILABLE".into())
    );
}
