//! What is counted, scraped from the real binary after known traffic.

use std::collections::BTreeSet;

use serde_json::Value;
use threadline::telemetry::metrics::{Kind, METRICS};

use crate::support::issuer::{SECRET, claims_of, token};
use crate::support::prometheus::Scrape;
use crate::support::{Client, Database, Key, List, Process, Turn, on_both, process};

on_both! {
    the_metrics_count_what_was_done,
    what_clients_write_makes_no_new_series,
    who_is_refused_at_the_door_is_counted,
}

const ADMIN: &str = "--admin-listen=127.0.0.1:0";

async fn scrape(server: &Process) -> Scrape {
    Scrape::read(&server.admin().get("/metrics").await.raw)
}

async fn the_metrics_count_what_was_done(db: &Database) {
    let server = Process::start(db, &[ADMIN]).await;
    let before = scrape(&server).await;
    assert_eq!(before.value("threadline_turns_total{result=\"stored\"}"), 0.0);
    assert!(
        before.families["threadline_turns_total"].series.len() == 5,
        "from the start"
    );
    write(&server).await;
    read(&server).await;
    let after = scrape(&server).await;
    let rose = |series: &str| after.value(series) - before.value(series);

    for (operation, code, times) in [
        ("mutation appendTurn", "OK", 4),
        ("mutation appendTurn", "CONFLICT", 1),
        ("mutation resetThread", "OK", 2),
        ("mutation compactThread", "OK", 1),
        ("mutation compactThread", "NOT_FOUND", 1),
        ("query threadByKey", "OK", 1),
        ("query thread", "OK", 2),
        ("query several", "OK", 1),
        ("GET /agents/{agent_id}/chat/messages", "OK", 1),
        ("GET /agents/{agent_id}/chat/messages", "INVALID_CURSOR", 1),
        ("GET /agents/{agent_id}/chat/threads", "OK", 1),
        ("POST /graphql", "GRAPHQL_VALIDATION_FAILED", 1),
        ("GET unknown", "NOT_FOUND", 1),
        ("DELETE /graphql", "BAD_USER_INPUT", 1),
    ] {
        let series = format!("threadline_requests_total{{operation=\"{operation}\",code=\"{code}\"}}");
        assert_eq!(rose(&series), f64::from(times), "{series}: {after:?}");
        let count = format!("threadline_request_duration_seconds_count{{operation=\"{operation}\"}}");
        assert!(rose(&count) >= f64::from(times), "{count}");
    }
    let requests = |scrape: &Scrape| scrape.sum("threadline_requests_total");
    assert_eq!(requests(&after) - requests(&before), 19.0, "and no others");

    for (series, times) in [
        ("threadline_turns_total{result=\"stored\"}", 2),
        ("threadline_turns_total{result=\"replayed\"}", 1),
        ("threadline_turns_total{result=\"failed\"}", 1),
        ("threadline_turns_total{result=\"refused\"}", 1),
        ("threadline_turns_total{result=\"error\"}", 0),
        ("threadline_boundaries_total{reason=\"reset\"}", 1),
        ("threadline_boundaries_total{reason=\"compaction\"}", 1),
        ("threadline_pages_total{source=\"table\"}", 4),
        ("threadline_requests_in_progress", 0),
    ] {
        assert_eq!(rose(series), f64::from(times), "{series}");
    }
    let version = format!(
        "threadline_build_info{{version=\"{}\"}}",
        env!("CARGO_PKG_VERSION")
    );
    assert_eq!(after.value(&version), 1.0);
    // The client's connection, and the scraper's.
    assert!(after.value("threadline_connections") >= 2.0);
    if cfg!(target_os = "linux") {
        assert!(after.value("process_resident_memory_bytes") > 1e6);
        assert!(after.value("process_open_fds") > 3.0);
        assert!(after.value("process_start_time_seconds") > 1.7e9);
    }
    check_families(&after);
}

/// Five turns of which two are stored, two boundaries drawn of three asked for, and one thread that is not there.
async fn write(server: &Client) {
    let key = Key::of("p");
    let turn = Turn::of_texts("t", &["hello", "hi"]);
    server.append(&key, &turn).await;
    assert_eq!(server.append(&key, &turn).await["replayed"], true);
    let other = Turn::of_texts("t", &["something else"]);
    assert_eq!(server.try_append(&key, &other).await.code(), "CONFLICT");
    server.append(&key, &Turn::new("f").failed()).await;
    let said = server.say(&key, "u", &["more", "and more"]).await;
    let thread = server.thread_id(&key).await;
    server
        .compact(&thread, "so far", &said[1])
        .await
        .data("/compactThread");
    server.reset(&thread).await.data("/resetThread");
    server.reset(&thread).await.data("/resetThread");
    let nobodys = "chat-00000000-0000-7000-8000-000000000000";
    let nothing = server.compact(nobodys, "so far", &said[1]).await;
    assert_eq!(nothing.code(), "NOT_FOUND");
}

/// Four pages; the others are refused, or have none.
async fn read(server: &Client) {
    let thread = server.graphql("{ agent(id: \"support\") { id } viewer { role } }", Value::Null);
    thread.await.data("");
    let page = server.rest_page(&List::threads("support"), 50, None).await;
    let id = page.items[0]["id"].as_str().unwrap().to_owned();
    for _ in 0..2 {
        let query = format!("query Mine {{ mine: thread(id: \"{id}\") {{ messages {{ hasMore }} }} }}");
        server.graphql(&query, Value::Null).await.data("");
    }
    assert_eq!(server.get("/agents/support/chat/messages").await.status, 200);
    let forged = server.get("/agents/support/chat/messages?cursor=forged").await;
    assert_eq!(forged.code(), "INVALID_CURSOR");
    server.graphql("{ nothing }", Value::Null).await;
    server.get("/nowhere").await;
    let delete = server.http().delete(server.url("/graphql"));
    delete.send().await.unwrap();
}

/// Every family is one that is listed, with its kind and its meaning.
fn check_families(scrape: &Scrape) {
    for (name, family) in &scrape.families {
        let listed = METRICS.iter().find(|metric| metric.name == name);
        let listed = listed.unwrap_or_else(|| panic!("{name} is not listed"));
        let kind = match listed.kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        assert_eq!(
            (family.kind.as_str(), family.help.as_str()),
            (kind, listed.meaning)
        );
    }
}

async fn what_clients_write_makes_no_new_series(db: &Database) {
    let server = Process::start(db, &[ADMIN]).await;
    let mut series = Vec::new();
    for round in 0..3 {
        for n in 0..10 {
            let mark = format!("mark{round}x{n}");
            for query in [
                format!("query {mark} {{ {mark}: viewer {{ role }} }}"),
                format!("{{ {mark} }}"),
                format!("{{ agent(id: \"{mark}\") {{ {mark}: id }} }}"),
                format!("query {mark} {{"),
            ] {
                server.graphql(&query, Value::Null).await;
            }
            server.get(&format!("/agents/{mark}/chat/messages")).await;
            server.get(&format!("/{mark}?{mark}={mark}")).await;
            let method = reqwest::Method::from_bytes(mark.to_uppercase().as_bytes()).unwrap();
            let odd = server.http().request(method, server.url("/healthz"));
            odd.send().await.unwrap();
        }
        let text = server.admin().get("/metrics").await.raw;
        assert!(!text.to_lowercase().contains("mark"), "{text}");
        let scrape = Scrape::read(&text);
        series.push(scrape.families["threadline_requests_total"].series.len());
    }
    assert_eq!(series[1..], [series[0]; 2], "series by round");
}

async fn who_is_refused_at_the_door_is_counted(db: &Database) {
    let mut command = process::threadline(db);
    command.args([
        "serve",
        ADMIN,
        "--limits-person-rate=1",
        "--limits-person-burst=5",
    ]);
    command.env("THREADLINE_AUTH_SECRET", SECRET);
    let server = Process::run(command).await;
    let list = "/agents/support/chat/threads";
    for _ in 0..3 {
        assert_eq!(server.get(list).await.status, 401);
    }
    let dashboard = server.bearing(&token(&claims_of("acme", "dashboard")));
    let mut limited = 0;
    for _ in 0..20 {
        limited += u32::from(dashboard.get(list).await.status == 429);
    }
    assert!(limited > 0, "somebody was limited");
    let scrape = scrape(&server).await;
    let limited = f64::from(limited);
    for (series, times) in [
        ("threadline_unauthenticated_total".to_owned(), 3.0),
        (
            "threadline_rate_limited_total{role=\"dashboard\"}".to_owned(),
            limited,
        ),
        (of_threads("UNAUTHENTICATED"), 3.0),
        (of_threads("RATE_LIMITED"), limited),
        (of_threads("OK"), 20.0 - limited),
    ] {
        assert_eq!(scrape.value(&series), times, "{series}");
    }
    check_families(&scrape);
}

fn of_threads(code: &str) -> String {
    let operation = "GET /agents/{agent_id}/chat/threads";
    format!("threadline_requests_total{{operation=\"{operation}\",code=\"{code}\"}}")
}

#[test]
fn what_is_counted_is_listed_and_explained() {
    let listed: BTreeSet<&str> = METRICS.iter().map(|metric| metric.name).collect();
    assert_eq!(listed.len(), METRICS.len(), "each once");
    let mut counted = 0;
    for name in quoted_names(&sources()) {
        counted += 1;
        assert!(listed.contains(name.as_str()), "{name} is not in METRICS");
    }
    assert!(counted > METRICS.len(), "the names are found: {counted}");
    let readme = include_str!("../../../README.md");
    for name in quoted_names(&readme.replace('`', "\"")) {
        assert!(listed.contains(name.as_str()), "the README tells of {name}");
    }
}

/// The names of metrics that stand in quotes.
fn quoted_names(text: &str) -> Vec<String> {
    let begins = ["\"threadline_", "\"process_"];
    let names = begins.iter().flat_map(|begin| {
        let rests = text.split(begin).skip(1);
        rests.map(|rest| format!("{}{}", &begin[1..], rest.split(['"', '{']).next().unwrap()))
    });
    names.collect()
}

fn sources() -> String {
    let mut text = String::new();
    let mut folders = vec![concat!(env!("CARGO_MANIFEST_DIR"), "/src").into()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir::<std::path::PathBuf>(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                text += &std::fs::read_to_string(path).unwrap();
            }
        }
    }
    text
}
