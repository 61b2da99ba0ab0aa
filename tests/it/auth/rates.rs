//! How often a token may ask.

use futures::future::join_all;
use serde_json::json;
use threadline::chat::clock::Clock;
use threadline::http::auth::Auth;
use threadline::http::guard::Limits;

use crate::support::issuer::{SECRET, claims_of, token};
use crate::support::{Answer, Backend, Client, Database, TestServer, with_database};

async fn server(database: &Database) -> TestServer {
    let auth = Auth::new(Some(SECRET), None, Clock::default()).await.unwrap();
    let limits = Limits {
        person_rate: 1.try_into().unwrap(),
        person_burst: 20.try_into().unwrap(),
        ..Limits::default()
    };
    TestServer::start_with(database.gateway().await, auth, limits).await
}

fn bearer(server: &Client, role: &str, name: &str) -> Client {
    let mut claims = claims_of("acme", role);
    claims["sub"] = name.into();
    server.bearing(&token(&claims))
}

/// Sends so many requests at once and gives the answers that were let through, and those that were not.
async fn send(client: &Client, times: usize, query: &str) -> (Vec<Answer>, Vec<Answer>) {
    let answers = join_all((0..times).map(|_| client.graphql(query, json!(null)))).await;
    answers.into_iter().partition(|answer| answer.status == 200)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_asks_too_often_is_told_to_wait_and_others_are_not() {
    with_database(Backend::Sqlite, async |database| {
        let server = server(database).await;
        let (greedy, modest) = (
            bearer(&server, "dashboard", "greedy"),
            bearer(&server, "dashboard", "modest"),
        );
        let (let_through, refused) = send(&greedy, 200, "{ __typename }").await;
        assert!(
            (20..40).contains(&let_through.len()),
            "{} were let through",
            let_through.len()
        );
        for answer in &refused {
            assert_eq!((answer.status, answer.code()), (429, "RATE_LIMITED"));
            let wait = answer.body["errors"][0]["extensions"]["retryAfterSeconds"].as_u64();
            assert!(
                wait.is_some_and(|seconds| (1..=20).contains(&seconds)),
                "{}",
                answer.raw
            );
        }
        let response = greedy
            .http()
            .get(greedy.url("/agents/support/chat/threads"))
            .send()
            .await
            .unwrap();
        assert_eq!(response.status(), 429, "REST counts as well");
        assert!(
            response.headers()["retry-after"]
                .to_str()
                .unwrap()
                .parse::<u64>()
                .is_ok()
        );
        assert_eq!(Answer::read(response).await.code(), "RATE_LIMITED");
        assert_eq!(
            send(&modest, 20, "{ __typename }").await.1.len(),
            0,
            "others are unharmed"
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_name_for_the_same_field_is_no_way_round() {
    with_database(Backend::Sqlite, async |database| {
        let server = server(database).await;
        let client = bearer(&server, "dashboard", "d");
        let (let_through, refused) = send(
            &client,
            10,
            "{ a: __typename b: __typename c: __typename d: __typename e: __typename }",
        )
        .await;
        assert!(
            (3..=5).contains(&let_through.len()),
            "{} were let through",
            let_through.len()
        );
        assert!(refused.iter().all(|answer| answer.code() == "RATE_LIMITED"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_are_faster_than_people() {
    with_database(Backend::Sqlite, async |database| {
        let server = server(database).await;
        for role in ["agent", "admin"] {
            let program = bearer(&server, role, "p");
            assert_eq!(send(&program, 200, "{ __typename }").await.1.len(), 0, "{role}");
        }
    })
    .await;
}
