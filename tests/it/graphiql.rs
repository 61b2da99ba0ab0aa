//! The playground, in a real browser and by its headers.

use crate::{
    node,
    support::{Backend, TestServer, with_database},
};

#[tokio::test(flavor = "multi_thread")]
async fn graphiql_runs_a_query_and_shows_the_schema_without_leaving_the_host() {
    with_database(Backend::Sqlite, async |database| {
        let server = TestServer::start(database).await;
        node::run("graphiql.js", &[&server.url("")]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_graphiql_is_sent_once_and_then_only_confirmed() {
    with_database(Backend::Sqlite, async |database| {
        let server = TestServer::start(database).await;
        for (path, kind) in [
            ("/graphiql", "text/html; charset=utf-8"),
            ("/graphiql/boot.js", "text/javascript; charset=utf-8"),
            ("/graphiql/graphiql.css", "text/css; charset=utf-8"),
        ] {
            let first = server.http().get(server.url(path)).send().await.unwrap();
            let header = |name: &str| first.headers()[name].to_str().unwrap().to_owned();
            assert_eq!(
                (first.status().as_u16(), header("content-type").as_str()),
                (200, kind),
                "{path}"
            );
            assert!(
                header("content-security-policy").contains("script-src 'self';"),
                "{path}"
            );
            assert!(!header("content-security-policy").contains("unsafe"), "{path}");
            let again = server
                .http()
                .get(server.url(path))
                .header("if-none-match", header("etag"));
            let again = again.send().await.unwrap();
            assert_eq!(again.status(), 304, "{path}");
            assert_eq!(again.bytes().await.unwrap().len(), 0, "{path}");
        }
        for path in [
            "/graphiql/nothing.js",
            "/graphiql/..%2Fpackage.json",
            "/graphiql/%2e%2e%2fbuild.js",
            "/graphiql/%FF",
        ] {
            let answer = server.get(path).await;
            assert_eq!((answer.status, answer.code()), (404, "NOT_FOUND"), "{path}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_gets_graphiql_where_other_clients_get_an_answer() {
    with_database(Backend::Sqlite, async |database| {
        let server = TestServer::start(database).await;
        let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
        for (accept, query, kind) in [
            (browser, "", "text/html"),
            (browser, "?query={__typename}", "application/json"),
            ("*/*", "", "application/json"),
            ("application/json", "?query={__typename}", "application/json"),
        ] {
            let url = server.url(&format!("/graphql{query}"));
            let answer = server
                .http()
                .get(url)
                .header("accept", accept)
                .send()
                .await
                .unwrap();
            let got = answer.headers()["content-type"].to_str().unwrap();
            assert!(got.starts_with(kind), "{accept} {query}: {got}");
        }
    })
    .await;
}
