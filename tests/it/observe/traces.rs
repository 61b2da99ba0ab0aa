//! Traces, followed from a caller's span to each SQL statement.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::trace::v1::Span;
use serde_json::json;
use tokio::net::TcpListener;

use crate::support::collector::{Collector, attributes, hex};
use crate::support::prometheus::Scrape;
use crate::support::wire::Wire;
use crate::support::{Backend, Database, Key, Process, Turn, on_both, rounds, with_database};

on_both! {
    a_request_is_followed_from_the_callers_span_to_each_statement,
}

const CALLER: &str = "00f067aa0ba902b7";

/// A trace that the caller has begun.
fn trace(number: u8) -> String {
    format!("4bf92f3577b34da6a3ce929d0e0e47{number:02}")
}

async fn send(server: &Process, trace_id: &str, query: &str, variables: serde_json::Value) {
    let request = server.http().post(server.url("/graphql"));
    let request = request.header("traceparent", format!("00-{trace_id}-{CALLER}-01"));
    let body = json!({ "query": query, "variables": variables });
    let answer: serde_json::Value = request.json(&body).send().await.unwrap().json().await.unwrap();
    assert!(answer["errors"].is_null(), "{answer}");
}

async fn a_request_is_followed_from_the_callers_span_to_each_statement(db: &Database) {
    let collector = Collector::start().await;
    let wire = match db.backend {
        Backend::Postgres => Some(Wire::to(db).await),
        Backend::Sqlite => None,
    };
    let url = wire.as_ref().map_or(db.url(), |wire| wire.url());
    let flags = [
        &collector.flag(),
        "--database-url",
        url,
        "--database-max-connections=1",
    ];
    let mut server = Process::start(db, &flags).await;
    let statements = || wire.as_ref().map(Wire::statements);
    let key = Key::of("p");
    // What a connection asks once is asked.
    server.say(&key, "first", &["hello"]).await;
    let page = "{ agent(id: \"support\") { threads(limit: 5) { items { messages { items { text } } boundary { id } } } } }";
    server.graphql(page, json!({})).await.data("");

    statements();
    let append = "mutation($input: AppendTurnInput!) { appendTurn(input: $input) { replayed } }";
    let turn = Turn::of_texts("t", &["x", "y"]).input(&key);
    send(&server, &trace(1), append, json!({ "input": turn })).await;
    let appending = statements();
    send(&server, &trace(2), page, json!({})).await;
    let paging = statements();
    // The end sends what is left.
    assert!(server.terminate().await.success());

    let resource = collector.resource();
    assert_eq!(resource["service.name"], "threadline");
    assert_eq!(resource["service.version"], env!("CARGO_PKG_VERSION"));
    let system = match db.backend {
        Backend::Postgres => "postgresql",
        Backend::Sqlite => "sqlite",
    };
    for (number, operation, unit, least, counted) in [
        (1, "mutation appendTurn", "append_turn", 5, appending),
        (2, "query agent", "messages", 2, paging),
    ] {
        let spans = Spans(collector.spans(&trace(number)));
        let of_sql = spans.sql();
        assert!(of_sql.len() >= least, "{:?} {}", spans.names(), server.output());
        if let Some(counted) = counted {
            assert_eq!(
                of_sql.len(),
                counted,
                "a span for each statement: {:?}",
                spans.names()
            );
        }
        for span in of_sql {
            let said = attributes(&span.attributes);
            assert_eq!(said["db.system"], system);
            let way = spans.way(span);
            let (first, last) = (way.first().unwrap(), way.last().unwrap());
            assert_eq!(hex(&first.parent_span_id), CALLER, "{:?}", spans.names());
            assert_eq!(first.name, "POST /graphql");
            assert_eq!(way[1].name, operation);
            assert!(last.name.starts_with("sea_orm."), "{}", last.name);
            // Not the ends: SQLite's thread may hold the span of a statement a little longer.
            let begins = |span: &Span| span.start_time_unix_nano;
            assert!(
                way.windows(2).all(|pair| begins(pair[0]) <= begins(pair[1])),
                "{way:?}"
            );
        }
        assert!(spans.names().contains(&unit), "{:?}", spans.names());
        let texts = spans.texts();
        assert!(texts.iter().any(|text| text.contains("\"message\"")), "{texts:?}");
        let http = attributes(&spans.root().attributes);
        assert_eq!(http["http.response.status_code"], "200");
        assert_eq!(
            (http["operation"].as_str(), http["code"].as_str()),
            (operation, "OK")
        );
        assert_eq!(http["request_id"].len(), 32);
    }
}

/// The spans of one trace.
struct Spans(Vec<Span>);

impl Spans {
    fn names(&self) -> Vec<&str> {
        self.0.iter().map(|span| span.name.as_str()).collect()
    }

    fn sql(&self) -> Vec<&Span> {
        let of_sql = self.0.iter().filter(|span| span.name.starts_with("sea_orm."));
        of_sql.collect()
    }

    fn texts(&self) -> Vec<String> {
        let texts = self.sql().into_iter().filter_map(|span| {
            let mut said = attributes(&span.attributes);
            said.remove("db.statement")
        });
        texts.collect()
    }

    fn root(&self) -> &Span {
        let root = self.0.iter().find(|span| hex(&span.parent_span_id) == CALLER);
        root.expect("a span below the caller's")
    }

    /// From the span of the request to this one.
    fn way<'a>(&'a self, to: &'a Span) -> Vec<&'a Span> {
        let by_id: HashMap<_, _> = self.0.iter().map(|span| (&span.span_id, span)).collect();
        let mut way: Vec<_> =
            std::iter::successors(Some(to), |span| by_id.get(&span.parent_span_id).copied()).collect();
        way.reverse();
        way
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sampling_is_the_callers_and_else_ours() {
    with_database(Backend::Sqlite, async |db: &Database| {
        let collector = Collector::start().await;
        let flags = [&collector.flag(), "--otel-sample=0"];
        let mut server = Process::start(db, &flags).await;
        let query = "{ viewer { role } }";
        for _ in 0..20 {
            server.graphql(query, json!({})).await.data("");
        }
        send(&server, &trace(3), query, json!({})).await;
        server.terminate().await;
        let spans = collector.spans(&trace(3));
        assert!(spans.iter().any(|span| span.name == "POST /graphql"), "{spans:?}");
        let all = collector.dump().matches("\"POST /graphql\"").count();
        assert_eq!(all, 1, "the caller's, and no other");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_that_is_dead_or_hangs_harms_nobody() {
    with_database(Backend::Sqlite, async |db: &Database| {
        let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let hanging = format!("http://{}", silent.local_addr().unwrap());
        for endpoint in ["http://127.0.0.1:1", &hanging] {
            let flags = ["--otel-endpoint", endpoint, "--admin-listen=127.0.0.1:0"];
            let mut server = Process::start(db, &flags).await;
            // At full size more spans than are kept.
            for round in 0..rounds(2, 20) {
                let query = "{ a: agent(id: \"a\") { threads { hasMore } messages { hasMore } } }";
                let requests = (0..100).map(|_| server.graphql(query, json!({})));
                let began = Instant::now();
                for answer in futures::future::join_all(requests).await {
                    answer.data("");
                }
                assert!(began.elapsed() < Duration::from_secs(10), "round {round}");
            }
            let scraped = Scrape::read(&server.admin().get("/metrics").await.raw);
            assert_eq!(scraped.value("threadline_spans_total{result=\"exported\"}"), 0.0);
            let began = Instant::now();
            let status = server.terminate().await;
            assert!(status.success(), "{status}");
            let took = began.elapsed();
            assert!(took < Duration::from_secs(8), "{took:?}");
            let said = server.output();
            let complaints = said.lines().filter(|line| line.contains("does not take spans"));
            assert!(complaints.count() <= 1, "{said}");
        }
    })
    .await;
}
