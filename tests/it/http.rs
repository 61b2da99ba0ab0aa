//! GraphQL's transport: what a request may look like, what each refusal looks like, and odd clients.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Answer, Backend, Process, TestServer, with_database};

#[tokio::test(flavor = "multi_thread")]
async fn what_is_well_formed_is_read_whatever_its_spelling() {
    with_database(Backend::Sqlite, async |database| {
        let server = TestServer::start(database).await;
        let request = server.http().post(server.url("/graphql"));
        let request = request
            .header("content-type", "Application/JSON; Charset=\"UTF-8\"")
            .body(r#"{"query":"{__typename}"}"#);
        assert_eq!(Answer::read(request.send().await.unwrap()).await.status, 200);
        let answer = server
            .get("/graphql?query=query($id:ID!){thread(id:$id){id}}&variables={\"id\":\"x\"}&extensions={}&unknown=1")
            .await;
        assert_eq!(answer.status, 200, "{}", answer.raw);
        let allow = server
            .http()
            .get(server.url("/graphql?query=mutation{__typename}"))
            .send();
        assert_eq!(allow.await.unwrap().headers()["allow"], "POST");
        let fits = format!("{}{}", " ".repeat((4 << 20) - 24), r#"{"query":"{__typename}"}"#);
        assert_eq!(server.post(fits.clone()).await.status, 200);
        assert_eq!(server.post(fits + " ").await.status, 413);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_error_has_no_data_and_the_status_of_its_media_type() {
    with_database(Backend::Sqlite, async |database| {
        let server = TestServer::start(database).await;
        for (accept, media, status) in [
            ("application/json", "application/json; charset=utf-8", 200),
            (
                "application/graphql-response+json",
                "application/graphql-response+json; charset=utf-8",
                400,
            ),
        ] {
            for query in ["{", "{nothing}", "query($id:ID!){thread(id:$id){id}}"] {
                let request = server
                    .http()
                    .post(server.url("/graphql"))
                    .header("accept", accept);
                let request = request
                    .header("content-type", "application/json")
                    .body(json!({ "query": query }).to_string());
                let answer = Answer::read(request.send().await.unwrap()).await;
                assert_eq!(
                    (answer.status, answer.content_type.as_str()),
                    (status, media),
                    "{query}"
                );
                assert!(answer.body.get("data").is_none(), "{}", answer.raw);
            }
        }
        let image = server
            .http()
            .get(server.url("/graphql?query={__typename}"))
            .header("accept", "image/png");
        let answer = Answer::read(image.send().await.unwrap()).await;
        assert_eq!((answer.status, answer.code()), (406, "BAD_USER_INPUT"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_field_is_null_with_its_path_and_its_siblings_are_answered() {
    with_database(Backend::Sqlite, async |database| {
        let server = TestServer::start(database).await;
        let answer = server
            .graphql(
                "{ agent(id: \"a\") { messages(limit: 0) { items { id } } } viewer { role } }",
                Value::Null,
            )
            .await;
        assert_eq!(answer.code(), "BAD_USER_INPUT");
        assert_eq!(answer.body["errors"][0]["path"], json!(["agent", "messages"]));
        assert_eq!(
            answer.body["data"],
            json!({ "agent": { "messages": null }, "viewer": { "role": "ADMIN" } })
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_tells_browsers_not_to_guess() {
    with_database(Backend::Sqlite, async |database| {
        let server = TestServer::start(database).await;
        for (path, status, kind) in [
            ("/healthz", 200, "text/plain; charset=utf-8"),
            ("/readyz", 200, "text/plain; charset=utf-8"),
            ("/schema.graphql", 200, "text/plain; charset=utf-8"),
            (
                "/graphql?query={__typename}",
                200,
                "application/json; charset=utf-8",
            ),
            ("/agents/a/chat/threads", 200, "application/json"),
            ("/agents/a/chat/threads?x=1", 400, "application/problem+json"),
            ("/nothing", 404, "application/problem+json"),
        ] {
            let answer = server.http().get(server.url(path)).send().await.unwrap();
            let header = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
            assert_eq!(
                (answer.status().as_u16(), header("content-type").as_str()),
                (status, kind),
                "{path}"
            );
            assert_eq!(header("x-content-type-options"), "nosniff", "{path}");
            assert_eq!(header("referrer-policy"), "no-referrer", "{path}");
            assert!(
                header("content-security-policy").starts_with("default-src 'none'"),
                "{path}"
            );
            assert!(
                answer.headers().get("access-control-allow-origin").is_none(),
                "{path}"
            );
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_method_is_405_and_says_which_are_right() {
    with_database(Backend::Sqlite, async |database| {
        let server = TestServer::start(database).await;
        for (method, path) in [
            ("PUT", "/graphql"),
            ("DELETE", "/agents/a/chat/threads"),
            ("POST", "/healthz"),
            ("OPTIONS", "/graphql"),
        ] {
            let method = method.parse().unwrap();
            let answer = server
                .http()
                .request(method, server.url(path))
                .send()
                .await
                .unwrap();
            assert!(
                answer.headers()["allow"].to_str().unwrap().contains("GET"),
                "{path}"
            );
            let answer = Answer::read(answer).await;
            assert_eq!((answer.status, answer.code()), (405, "BAD_USER_INPUT"), "{path}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sigterm_ends_the_server_at_once_when_nothing_is_under_way() {
    with_database(Backend::Sqlite, async |database| {
        let mut process = Process::start(database, &[]).await;
        let address = process.url("").replace("http://", "");
        let _silent = TcpStream::connect(&address).unwrap();
        let mut kept = TcpStream::connect(&address).unwrap();
        kept.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n")
            .unwrap();
        assert!(kept.read(&mut [0; 1024]).unwrap() > 0);
        let began = Instant::now();
        let status = process.terminate().await;
        assert!(status.success(), "{status}");
        assert!(began.elapsed() < Duration::from_secs(5));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_opens_the_server_in_a_browser_is_led_to_graphiql() {
    with_database(Backend::Sqlite, async |database| {
        let server = TestServer::start(database).await;
        let page = server.get("/").await;
        assert_eq!((page.status, &page.content_type[..9]), (200, "text/html"));
        assert!(page.raw.contains("GraphiQL"), "{}", page.raw);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_whose_host_name_leads_here_is_refused() {
    with_database(Backend::Sqlite, async |database| {
        let server = TestServer::start(database).await;
        let port = server.url("").rsplit_once(':').unwrap().1.to_owned();
        for (host, status) in [
            (format!("127.0.0.1:{port}"), 200),
            (format!("localhost:{port}"), 200),
            ("LOCALHOST".to_owned(), 200),
            (format!("[::1]:{port}"), 200),
            (format!("evil.example:{port}"), 421),
            (format!("localhost.evil.example:{port}"), 421),
            ("127.0.0.1.evil.example".to_owned(), 421),
            ("10.0.0.1".to_owned(), 421),
            ("a b".to_owned(), 421),
        ] {
            let request = server.http().post(server.url("/graphql")).header("host", &host);
            let request = request
                .header("content-type", "application/json")
                .body(r#"{"query":"{__typename}"}"#);
            let answer = Answer::read(request.send().await.unwrap()).await;
            assert_eq!(answer.status, status, "{host}: {}", answer.raw);
        }
    })
    .await;
}
