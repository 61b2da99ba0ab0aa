//! What every answer says to browsers, whoever gives it.

use std::collections::BTreeSet;

use reqwest::header::HeaderMap;
use threadline::http::guard::Limits;
use threadline::http::{admin, serve};
use tokio::net::TcpListener;

use crate::support::{Backend, TestServer, with_database};

/// Method, path, the status of the answer, and a header to send.
type Asked = (
    &'static str,
    &'static str,
    u16,
    Option<(&'static str, &'static str)>,
);

const ASKED: [Asked; 26] = [
    ("GET", "/", 307, None),
    ("GET", "/graphiql", 200, None),
    ("HEAD", "/graphiql", 200, None),
    ("GET", "/graphiql/boot.js", 200, None),
    ("GET", "/graphiql/graphiql.css", 200, None),
    ("GET", "/graphiql/licenses.txt", 200, None),
    ("GET", "/graphiql/nothing.js", 404, None),
    ("GET", "/graphiql/%FF", 404, None),
    ("GET", "/graphql", 200, Some(("accept", "text/html"))),
    ("GET", "/graphql", 400, None),
    ("GET", "/graphql?query={__typename}", 200, None),
    (
        "GET",
        "/graphql?query={__typename}",
        406,
        Some(("accept", "image/png")),
    ),
    ("GET", "/graphql?query=mutation{x}", 405, None),
    ("POST", "/graphql", 415, None),
    (
        "POST",
        "/graphql",
        400,
        Some(("content-type", "application/json")),
    ),
    ("POST", "/graphql", 415, Some(("content-encoding", "gzip"))),
    ("PUT", "/graphql", 405, None),
    ("OPTIONS", "/graphql", 405, None),
    ("GET", "/schema.graphql", 200, None),
    ("GET", "/agents/a/chat/messages", 200, None),
    ("GET", "/agents/a/chat/threads?limit=0", 400, None),
    ("GET", "/agents/a/chat/threads/x/messages", 404, None),
    ("GET", "/healthz", 200, None),
    ("GET", "/readyz", 200, None),
    ("GET", "/nothing", 404, None),
    ("GET", "/graphql", 421, Some(("host", "evil.example"))),
];

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_tells_browsers_what_not_to_do_with_it() {
    with_database(Backend::Sqlite, async |database| {
        let server = TestServer::start(database).await;
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .unwrap();
        let mut routes = BTreeSet::new();
        for (method, path, status, header) in ASKED {
            let mut request = client.request(method.parse().unwrap(), server.url(path));
            if let Some((name, value)) = header {
                request = request.header(name, value);
            }
            let answer = request.send().await.unwrap();
            assert_eq!(answer.status(), status, "{method} {path}");
            is_secure(answer.headers(), &format!("{method} {path} {status}"));
            routes.insert(path.split('?').next().unwrap().to_owned());
        }
        let large = client
            .post(server.url("/graphql"))
            .body(vec![b' '; 5 << 20])
            .send()
            .await
            .unwrap();
        assert_eq!(large.status(), 413);
        is_secure(large.headers(), "a large body");
        let tag = client
            .get(server.url("/graphiql"))
            .send()
            .await
            .unwrap()
            .headers()["etag"]
            .clone();
        let known = client
            .get(server.url("/graphiql"))
            .header("if-none-match", tag)
            .send()
            .await
            .unwrap();
        assert_eq!(known.status(), 304);
        is_secure(known.headers(), "a file that is known");
        every_route_was_asked(&routes);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn so_does_the_admin_listener() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let router = admin::router(true, || "metrics".to_owned());
    let serving = tokio::spawn(serve::serve(
        listener,
        router,
        Limits::default(),
        std::future::pending(),
    ));
    let client = reqwest::Client::new();
    for (method, path, status) in [
        ("GET", "/metrics", 200),
        ("POST", "/metrics", 405),
        ("GET", "/", 404),
    ] {
        let request = client.request(method.parse().unwrap(), format!("{base}{path}"));
        let answer = request.send().await.unwrap();
        is_secure(answer.headers(), &format!("{method} {path}"));
        assert_eq!(answer.status(), status, "{method} {path}");
    }
    serving.abort();
}

fn is_secure(headers: &HeaderMap, what: &str) {
    let text = |name: &str| {
        headers
            .get(name)
            .unwrap_or_else(|| panic!("{what} has no {name}"))
            .to_str()
            .unwrap()
    };
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        assert_eq!(text(name), value, "{what}");
    }
    assert!(
        ["no-store", "no-cache"].contains(&text("cache-control")),
        "{what}"
    );
    assert!(text("permissions-policy").contains("camera=()"), "{what}");
    let policy = text("content-security-policy");
    for part in [
        "default-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ] {
        assert!(policy.contains(part), "{what}: {policy}");
    }
    for loose in ["unsafe", "*", "http:", "https:"] {
        assert!(!policy.contains(loose), "{what}: {policy}");
    }
    assert_eq!(headers.get("content-security-policy").iter().count(), 1);
    assert!(
        !headers.contains_key("strict-transport-security") && !headers.contains_key("server"),
        "{what}"
    );
}

/// A route that is added has to be added above too.
fn every_route_was_asked(asked: &BTreeSet<String>) {
    let router = include_str!("../../src/http/mod.rs");
    let routes = router.split(".route(").skip(1);
    let routes = routes
        .filter_map(|rest| rest.split('"').nth(1))
        .filter(|route| route.starts_with('/'));
    let mut count = 0;
    for route in routes {
        count += 1;
        let parts: Vec<&str> = route.split('/').collect();
        let fits = |path: &String| {
            let path: Vec<&str> = path.split('/').collect();
            path.len() == parts.len()
                && parts
                    .iter()
                    .zip(&path)
                    .all(|(part, given)| part.starts_with('{') || part == given)
        };
        assert!(asked.iter().any(fits), "{route} is not asked");
    }
    assert!(count >= 10, "the routes are found");
}
