//! What a page costs: statements, counted on the wire to PostgreSQL. SQLite runs the same code and has no wire.

use serde_json::Value;

use crate::support::wire::Wire;
use crate::support::{Backend, Client, Database, Key, List, TestServer, with_database};

async fn server_on(wire: &Wire, database: &Database) -> TestServer {
    TestServer::start_over(database.gateway_at(wire.url()).await).await
}

/// Runs a query twice, so that every connection it needs is there, and counts the statements of the second.
async fn cost(wire: &Wire, server: &Client, query: &str) -> usize {
    server.graphql(query, Value::Null).await.data("");
    wire.statements();
    server.graphql(query, Value::Null).await.data("");
    wire.statements()
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_threads_with_five_messages_each_cost_as_many_statements_as_two_threads() {
    with_database(Backend::Postgres, async |database| {
        let wire = Wire::to(database).await;
        let server = server_on(&wire, database).await;
        for person in 0..50 {
            let key = Key::of(&format!("p{person}"));
            server.say(&key, "t", &["1", "2", "3", "4", "5", "6"]).await;
            let thread = server.thread_id(&key).await;
            server.reset(&thread).await.data("/resetThread");
            server.say(&key, "u", &["7", "8"]).await;
        }
        for fields in [
            "messages(limit: 5) { items { id text content createdAt } nextCursor hasMore }",
            "messages(limit: 5, view: CONTEXT) { items { id } } boundary { id boundary { reason } }",
            "messages(limit: 5) { items { inContext thread { personId agent { id } } } }",
            "context(limit: 5) { messages { text } summary }",
        ] {
            let query = |threads: usize| {
                format!("{{ agent(id: \"support\") {{ threads(limit: {threads}) {{ items {{ id {fields} }} }} }} }}")
            };
            let two = cost(&wire, &server, &query(2)).await;
            let fifty = cost(&wire, &server, &query(50)).await;
            assert_eq!(two, fifty, "{fields}");
            assert!((2..=4).contains(&fifty), "{fifty} statements: {fields}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_costs_the_same_few_statements_however_long_the_thread_and_deep_the_page() {
    with_database(Backend::Postgres, async |database| {
        let wire = Wire::to(database).await;
        let server = server_on(&wire, database).await;
        let key = Key::of("p");
        server.say_many(&key, 5).await;
        let list = List::of_thread("support", &server.thread_id(&key).await);
        wire.statements();
        server.page(&list, 50, None).await;
        let short = wire.statements();
        server.say_many(&Key::of("q"), 1_000).await;
        let list = List::of_thread("support", &server.thread_id(&Key::of("q")).await);
        wire.statements();
        for page in server.walk(&list, 50).await {
            assert_eq!(page.items.len(), 50);
        }
        assert_eq!(wire.statements(), 20 * short);
        assert!((1..=2).contains(&short), "{short} statements");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_costs_as_many_statements_for_a_hundred_messages_as_for_one() {
    with_database(Backend::Postgres, async |database| {
        let wire = Wire::to(database).await;
        let server = server_on(&wire, database).await;
        let key = Key::of("p");
        server.say(&key, "first", &["hello"]).await;
        wire.statements();
        server.say(&key, "short", &["hello"]).await;
        let short = wire.statements();
        server.say(&key, "long", &["hello"; 100]).await;
        assert_eq!(wire.statements(), short);
        assert!((4..=8).contains(&short), "{short} statements");
    })
    .await;
}
