//! What people say, tokens and cursors are in no line of the log, no metric and no span, however much is asked for.

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE};
use serde_json::{Value, json};

use crate::support::collector::Collector;
use crate::support::issuer::{SECRET, claims_of, token};
use crate::support::rows::{Rows, Step};
use crate::support::{Backend, Client, Database, Key, List, Process, Turn, on_both, process};

on_both! {
    nothing_that_was_said_is_seen_from_outside,
}

/// What nobody may see.
const MARK: &str = "qzxwvk";

async fn nothing_that_was_said_is_seen_from_outside(db: &Database) {
    let collector = Collector::start().await;
    let mut command = process::threadline(db);
    command.args([
        "serve",
        "--log-level=trace",
        "--log-format=json",
        "--admin-listen=127.0.0.1:0",
    ]);
    command.arg(collector.flag());
    let mut password = format!("{MARK}password");
    if db.backend == Backend::Postgres {
        let mut url: reqwest::Url = db.url().parse().unwrap();
        // A server that asks for none takes any.
        match url.password() {
            Some(real) => password = real.to_owned(),
            None => url.set_password(Some(&password)).unwrap(),
        }
        command.env("DATABASE_URL", url.as_str());
    }
    command.env("THREADLINE_CURSOR_SECRETS", MARK.repeat(8));
    command.env("THREADLINE_AUTH_SECRET", SECRET);
    let mut server = Process::run(command).await;
    let mut claims = claims_of("acme", "admin");
    claims["note"] = MARK.into();
    let good = token(&claims);
    let client = server.bearing(&good);
    let cursor = say_and_page(&client).await;
    be_refused(&client).await;
    fail(&client, db).await;
    let bad = [good.trim_end_matches(char::is_alphanumeric), MARK, ""].map(|start| format!("{start}{MARK}"));
    for token in &bad {
        let answer = server.bearing(token).get("/agents/a/chat/messages").await;
        assert_eq!(answer.status, 401);
    }
    let metrics = server.admin().get("/metrics").await.raw;
    server.terminate().await;

    let (log, spans) = (server.output(), collector.dump());
    assert!(
        log.contains("INSERT INTO") && log.contains("\"answered\""),
        "much is told: {log}"
    );
    assert!(spans.contains("INSERT INTO"), "much is told: {spans}");
    for (what, seen) in [("log", &log), ("metrics", &metrics), ("spans", &spans)] {
        let parts = good.split('.');
        for secret in parts.chain([MARK, &hex(MARK), &cursor, SECRET, &password]) {
            let line = seen.lines().find(|line| line.contains(secret));
            assert!(line.is_none(), "{secret} in the {what}: {line:?}");
        }
    }
}

/// Bytes as `{:x?}` and hexadecimal literals would show them.
fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

/// Everything that is said, stored and read; gives a cursor that was used.
async fn say_and_page(server: &Client) -> String {
    let key = Key::of("p");
    let turn = Turn::of_texts("t", &[MARK, MARK, "x"]);
    server.append(&key, &turn).await;
    server.append(&key, &turn).await;
    let other = Turn::of_texts("t", &[MARK]);
    assert_eq!(server.try_append(&key, &other).await.code(), "CONFLICT");
    let said = server.say(&key, "u", &[MARK, "y"]).await;
    let thread = server.thread_id(&key).await;
    server
        .compact(&thread, MARK, &said[1])
        .await
        .data("/compactThread");
    server.context(&key, "").await;
    let list = List::of_thread("support", &thread);
    let cursor = server.page(&list, 1, None).await.next_cursor.unwrap();
    server.page(&list, 1, Some(&cursor)).await;
    server.rest_page(&list, 1, Some(&cursor)).await;
    cursor
}

/// Everything that is refused, with what nobody may see in every place where a client can put it.
async fn be_refused(server: &Client) {
    let post = || {
        server
            .http()
            .post(server.url("/graphql"))
            .header(CONTENT_TYPE, "application/json")
    };
    let get = |path: &str| server.http().get(server.url(path));
    let graphql = |query: String, variables: Value| {
        post().body(json!({ "query": query, "variables": variables, "operationName": MARK }).to_string())
    };
    for request in [
        graphql(format!("{{ {MARK} }}"), Value::Null),
        graphql(
            format!("query {MARK} {{ agent(id: \"{MARK}\" {MARK}: 1) {{ id }} }}"),
            Value::Null,
        ),
        graphql(
            format!("query {MARK}($v: Int) {{ {MARK}: agent(id: $v) {{ id }} }}"),
            json!({ "v": MARK }),
        ),
        graphql(format!("{{ a \"{MARK}"), json!({ MARK: MARK })),
        post().body(format!("{{\"query\": {MARK}")),
        post().body(MARK).header("content-encoding", MARK),
        post().body(MARK).header("accept", MARK),
        get(&format!("/graphql?query={{viewer{{role}}}}&variables={MARK}")),
        get(&format!("/graphql?query=mutation{{{MARK}}}")),
        get(&format!("/{MARK}?{MARK}={MARK}")),
        get(&format!("/agents/a/chat/messages?cursor={MARK}")),
        get(&format!("/agents/a/chat/messages?limit={MARK}")),
        get(&format!("/agents/a/chat/threads/{MARK}/messages?cursor={MARK}")),
        get("/graphql?query={viewer{role}}").header(AUTHORIZATION, format!("Bearer {MARK}")),
        get("/healthz").header("x-request-id", format!("{MARK} {MARK}")),
        get("/healthz").header("cookie", MARK).header("traceparent", MARK),
    ] {
        request.send().await.unwrap();
    }
    let content = json!({ "parts": [{ "type": "text", "text": MARK, "url": format!("data:{MARK}") }] });
    server
        .try_append(&Key::of("p"), &Turn::new("bad").with("USER", content))
        .await;
    server
        .try_append(&Key::of("p"), &Turn::new("bad").says(MARK, MARK))
        .await;
}

/// What the database says when it refuses a row that holds it.
async fn fail(server: &Client, db: &Database) {
    let rows = Rows::of(db).await;
    for (number, step) in Step::all(db.backend).iter().enumerate() {
        rows.break_step(step).await;
        for key in [Key::of("p"), Key::of(&format!("new {number}"))] {
            let turn = Turn::of_texts(&format!("fails {number}"), &[MARK]);
            server.try_append(&key, &turn).await;
        }
        rows.mend(step).await;
    }
}
