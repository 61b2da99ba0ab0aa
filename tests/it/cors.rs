//! Pages of other sites: which of them may read the API.

use std::net::TcpListener;

use reqwest::header::HeaderMap;
use serde_json::json;
use threadline::http::{Origins, Surface};

use crate::node;
use crate::support::command::Ran;
use crate::support::{Backend, Database, TestServer, with_database};

const APP: &str = "https://app.example.com";
const OTHERS: [&str; 7] = [
    "https://evil.example",
    "https://app.example.com.evil.example",
    "http://app.example.com",
    "https://app.example.com:8443",
    "https://APP.example.com",
    "https://sub.app.example.com",
    "null",
];

async fn sharing(database: &Database, origins: &str) -> TestServer {
    let surface = Surface {
        origins: Origins::read(origins).unwrap(),
        ..Surface::default()
    };
    TestServer::start_showing(database, surface).await
}

/// Asks as a page would, and gives the answer's status and headers.
async fn ask(server: &TestServer, method: &str, path: &str, headers: &[(&str, &str)]) -> (u16, HeaderMap) {
    let method = method.parse().unwrap();
    let mut request = server.http().request(method, server.url(path));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let answer = request.send().await.unwrap();
    (answer.status().as_u16(), answer.headers().clone())
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).map(|value| value.to_str().unwrap())
}

/// All values of a header that may be there several times.
fn all(headers: &HeaderMap, name: &str) -> String {
    let values = headers.get_all(name).iter().map(|value| value.to_str().unwrap());
    values.collect::<Vec<_>>().join(", ").to_lowercase()
}

fn preflight(origin: &str) -> [(&str, &str); 3] {
    [
        ("origin", origin),
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "authorization,content-type"),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listed_page_may_ask_and_read_answers_and_refusals() {
    with_database(Backend::Sqlite, async |database| {
        let server = sharing(database, "http://localhost:3000, https://app.example.com").await;
        for origin in [APP, "http://localhost:3000"] {
            for path in ["/graphql", "/agents/a/chat/messages"] {
                let (status, headers) = ask(&server, "OPTIONS", path, &preflight(origin)).await;
                assert_eq!(status, 200, "{path}");
                assert_eq!(text(&headers, "access-control-allow-origin"), Some(origin));
                assert_eq!(text(&headers, "access-control-allow-methods"), Some("GET,POST"));
                assert_eq!(
                    text(&headers, "access-control-allow-headers"),
                    Some("authorization,content-type,x-request-id,traceparent")
                );
                assert_eq!(text(&headers, "access-control-max-age"), Some("7200"));
                assert_eq!(text(&headers, "access-control-allow-credentials"), None);
                assert_eq!(text(&headers, "x-content-type-options"), Some("nosniff"));
            }
        }
        for (path, status) in [
            ("/graphql?query={__typename}", 200),
            ("/graphql?query=", 400),
            ("/agents/a/chat/threads", 200),
            ("/agents/a/chat/threads?x=1", 400),
            ("/agents/a/nothing", 404),
        ] {
            let (got, headers) = ask(&server, "GET", path, &[("origin", APP)]).await;
            assert_eq!(got, status, "{path}");
            assert_eq!(text(&headers, "access-control-allow-origin"), Some(APP), "{path}");
            assert_eq!(
                text(&headers, "access-control-expose-headers"),
                Some("x-request-id,retry-after")
            );
            assert!(all(&headers, "vary").contains("origin"), "{path}");
        }
        let large = server
            .http()
            .post(server.url("/graphql"))
            .header("origin", APP)
            .body(vec![b' '; 5 << 20]);
        let answer = large.send().await.unwrap();
        assert_eq!(answer.status(), 413);
        assert_eq!(text(answer.headers(), "access-control-allow-origin"), Some(APP));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_is_not_listed_gets_no_leave() {
    with_database(Backend::Sqlite, async |database| {
        let server = sharing(database, APP).await;
        for origin in OTHERS {
            let (_, headers) = ask(&server, "OPTIONS", "/graphql", &preflight(origin)).await;
            assert_eq!(text(&headers, "access-control-allow-origin"), None, "{origin}");
            let (status, headers) = ask(
                &server,
                "GET",
                "/graphql?query={__typename}",
                &[("origin", origin)],
            )
            .await;
            assert_eq!(
                (status, text(&headers, "access-control-allow-origin")),
                (200, None),
                "{origin}"
            );
            // A cache must not give this answer to a listed page.
            assert!(all(&headers, "vary").contains("origin"), "{origin}");
        }
        let (_, headers) = ask(&server, "GET", "/graphql?query={__typename}", &[]).await;
        assert!(all(&headers, "vary").contains("origin"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_lets_pages_read_what_the_server_shares_with_them() {
    with_database(Backend::Sqlite, async |database| {
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let server = sharing(database, &format!("http://127.0.0.1:{port}")).await;
        node::run("cors.js", &[&server.url(""), &port.to_string()]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_star_lets_every_page_read_but_those_without_a_name() {
    with_database(Backend::Sqlite, async |database| {
        let server = sharing(database, "*").await;
        for origin in OTHERS {
            let (_, headers) = ask(
                &server,
                "GET",
                "/graphql?query={__typename}",
                &[("origin", origin)],
            )
            .await;
            let allowed = (origin != "null").then_some(origin);
            assert_eq!(text(&headers, "access-control-allow-origin"), allowed, "{origin}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_but_the_api_is_shared_and_nothing_at_all_without_a_list() {
    with_database(Backend::Sqlite, async |database| {
        let (shared, closed) = (sharing(database, APP).await, TestServer::start(database).await);
        for (server, path) in [
            (&shared, "/healthz"),
            (&shared, "/graphiql"),
            (&shared, "/graphiql/boot.js"),
            (&shared, "/schema.graphql"),
            (&shared, "/nothing"),
            (&closed, "/graphql"),
            (&closed, "/agents/a/chat/threads"),
        ] {
            for method in ["OPTIONS", "GET"] {
                let (status, headers) = ask(server, method, path, &preflight(APP)).await;
                let names = headers
                    .keys()
                    .filter(|name| name.as_str().starts_with("access-control"));
                assert_eq!(names.count(), 0, "{method} {path}");
                assert!(method == "GET" || status == 405 || status == 404, "{path}");
            }
        }
        // What no page asked is no preflight.
        let (status, headers) = ask(&shared, "OPTIONS", "/graphql", &[]).await;
        assert_eq!((status, all(&headers, "allow").contains("get")), (405, true));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_of_origins_that_is_wrong_is_refused_when_the_server_starts() {
    with_database(Backend::Sqlite, async |database| {
        for (origins, said) in [
            ("https://app.example.com/", "as \"https://app.example.com\""),
            ("app.example.com", "is no origin"),
            ("null", "is no origin"),
            ("https://*.example.com", "is no origin"),
            ("https://app.example.com,*", "is no origin"),
            // Without auth.
            ("*", "without auth"),
        ] {
            let error = Ran::threadline(database, &["serve", "--cors-origins", origins], "").refused(2);
            let named = error.contains(&format!("cors.origins = {}", json!(origins)));
            assert!(named && error.contains(said), "{origins}: {error}");
        }
    })
    .await;
}
