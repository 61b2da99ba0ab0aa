//! Trusted documents, and a schema that tells nothing of itself.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use threadline::http::guard::Limits;
use threadline::http::{Documents, Surface};

use crate::support::command::Ran;
use crate::support::{Answer, Backend, Database, Process, TestServer, on_both, with_database};

on_both! {
    a_listed_document_runs_by_its_text_and_by_its_id,
}

const ROLE: &str = "query Role { viewer { role } }";
const RESET: &str = "mutation Reset($id: ID!) { resetThread(input: { threadId: $id }) { drawn } }";
const PAGE: &str =
    "query Page($limit: Int!) { agent(id: \"a\") { messages(limit: $limit) { items { id text } } } }";

fn id(document: &str) -> String {
    Sha256::digest(document)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn list(documents: &[&str]) -> String {
    let listed: BTreeMap<_, _> = documents
        .iter()
        .map(|document| (id(document), *document))
        .collect();
    json!(listed).to_string()
}

/// A server that runs only these.
async fn trusting(database: &Database, documents: &[&str]) -> TestServer {
    let documents = Documents::read(list(documents).as_bytes(), &Limits::default()).unwrap();
    let surface = Surface {
        documents: Some(Arc::new(documents)),
        ..Surface::default()
    };
    TestServer::start_showing(database, surface).await
}

async fn a_listed_document_runs_by_its_text_and_by_its_id(db: &Database) {
    let server = trusting(db, &[ROLE, RESET, PAGE]).await;
    let (role, page) = (id(ROLE), id(PAGE));
    for answer in [
        server.graphql(ROLE, Value::Null).await,
        server.post(json!({ "documentId": role }).to_string()).await,
        server
            .post(json!({ "documentId": format!("sha256:{role}"), "operationName": "Role" }).to_string())
            .await,
        server.get(&format!("/graphql?query={ROLE}")).await,
        server.get(&format!("/graphql?documentId=sha256:{role}")).await,
        server.get(&format!("/graphql?documentId={role}")).await,
    ] {
        assert_eq!(answer.data("/viewer/role"), "ADMIN");
    }
    for limit in [1, 200] {
        let by_id = server
            .post(json!({ "documentId": page, "variables": { "limit": limit } }).to_string())
            .await;
        by_id.data("/agent/messages/items");
    }
    let refused = server
        .post(json!({ "documentId": id(RESET), "variables": { "id": "chat-00000000-0000-7000-8000-000000000000" } }).to_string())
        .await;
    assert_eq!(refused.code(), "NOT_FOUND");
    let by_get = server
        .get(&format!(
            "/graphql?documentId={}&variables={{\"id\":\"x\"}}",
            id(RESET)
        ))
        .await;
    assert_eq!((by_get.status, by_get.code()), (405, "BAD_USER_INPUT"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_listed_is_refused_in_both_media_types() {
    with_database(Backend::Sqlite, async |database| {
        let server = trusting(database, &[ROLE, PAGE]).await;
        let unknown = id("something else");
        for body in [
            json!({ "query": "{__typename}" }),
            json!({ "query": format!("{ROLE} ") }),
            json!({ "query": ROLE.replace("Role", "role") }),
            json!({ "query": "{__schema{types{name}}}" }),
            json!({ "query": "{" }),
            json!({ "query": "" }),
            json!({ "query": format!("{{n(x:{}1{})}}", "{a:".repeat(2_000), "}".repeat(2_000)) }),
            json!({ "query": "a".repeat(4_000_000) }),
            json!({ "documentId": unknown }),
            json!({ "documentId": format!("sha256:{unknown}") }),
            json!({ "documentId": format!("md5:{}", id(ROLE)) }),
            json!({ "documentId": id(ROLE).to_uppercase() }),
            json!({ "documentId": "../../etc/passwd" }),
            json!({ "documentId": "" }),
        ] {
            for accept in ["application/json", "application/graphql-response+json"] {
                let request = server
                    .http()
                    .post(server.url("/graphql"))
                    .header("accept", accept);
                let request = request
                    .header("content-type", "application/json")
                    .body(body.to_string());
                let answer = Answer::read(request.send().await.unwrap()).await;
                assert_eq!((answer.status, answer.code()), (403, "FORBIDDEN"), "{body:.60}");
                assert!(answer.content_type.starts_with(accept) && answer.body.get("data").is_none());
                assert!(answer.message().contains("limits.documents"), "{}", answer.raw);
            }
        }
        // The extension of Apollo's automatic persisted queries registers nothing.
        let extension = json!({ "persistedQuery": { "version": 1, "sha256Hash": id("{__typename}") } });
        let body = json!({ "query": "{__typename}", "extensions": extension });
        assert_eq!(server.post(body.to_string()).await.code(), "FORBIDDEN");
        // What a listed document asks for is bounded all the same.
        let body = json!({ "documentId": id(PAGE), "variables": { "limit": "many" } });
        assert_eq!(server.post(body.to_string()).await.code(), "BAD_USER_INPUT");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_is_refused_where_nothing_is_listed_and_beside_a_document() {
    with_database(Backend::Sqlite, async |database| {
        let open = TestServer::start(database).await;
        let trusting = trusting(database, &[ROLE]).await;
        for (server, body) in [
            (&open, json!({ "documentId": id(ROLE) })),
            (&open, json!({ "documentId": id(ROLE), "query": ROLE })),
            (&open, json!({ "documentId": 1 })),
            (&trusting, json!({ "documentId": id(ROLE), "query": ROLE })),
            (&trusting, json!({ "documentId": [id(ROLE)] })),
            (&trusting, json!({})),
        ] {
            let answer = server.post(body.to_string()).await;
            assert_eq!((answer.status, answer.code()), (400, "BAD_USER_INPUT"), "{body}");
        }
        let answer = open.get(&format!("/graphql?documentId={}", id(ROLE))).await;
        assert!(answer.message().contains("`query`"), "{}", answer.raw);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_is_read_when_the_server_starts() {
    with_database(Backend::Sqlite, async |database| {
        let file = database.folder().join("documents.json");
        // As the tools write them, and with the prefix of the draft.
        let listed = json!({ id(ROLE): ROLE, format!("sha256:{}", id(PAGE)): PAGE });
        fs::write(&file, listed.to_string()).unwrap();
        let server = Process::start(database, &["--limits-documents", "documents.json"]).await;
        server.graphql(ROLE, Value::Null).await.data("/viewer");
        server
            .post(json!({ "documentId": id(PAGE), "variables": { "limit": 1 } }).to_string())
            .await
            .data("/agent");
        assert_eq!(
            server.graphql("{__typename}", Value::Null).await.code(),
            "FORBIDDEN"
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_cannot_be_used_names_the_entry() {
    with_database(Backend::Sqlite, async |database| {
        let entry = |document: &str| json!({ id(ROLE): ROLE, id(document): document }).to_string();
        let deep = format!("{{{}id{}}}", "thread(id:1){agent{".repeat(9), "}}".repeat(9));
        let wide = PAGE.replace("messages(limit: $limit)", "threads(limit: 200)").replace("items { id text }", "items { messages(limit: $limit) { items { id text stopped tokens role turnId createdAt inContext a: id b: id c: id d: id e: id f: id g: id h: id i: id j: id k: id l: id m: id n: id } } }");
        for (list, said) in [
            ("".to_owned(), "no JSON object".to_owned()),
            ("[]".to_owned(), "no JSON object".to_owned()),
            ("{}".to_owned(), "lists no document".to_owned()),
            (json!({ id(ROLE): 1 }).to_string(), "no JSON object".to_owned()),
            (json!({ id(PAGE): ROLE }).to_string(), id(PAGE)),
            (json!({ id(PAGE): ROLE }).to_string(), id(ROLE)),
            (json!({ "Role": ROLE }).to_string(), "\"Role\"".to_owned()),
            (entry("query {"), id("query {")),
            (entry(&deep), id(&deep)),
            (entry(&wide), id(&wide)),
            (entry(""), "expected".to_owned()),
        ] {
            fs::write(database.folder().join("documents.json"), &list).unwrap();
            let ran = Ran::threadline(database, &["serve", "--limits-documents", "documents.json"], "");
            let error = ran.refused(2);
            assert!(error.contains("limits.documents = \"documents.json\"") && error.contains(&said), "{list}: {error}");
        }
        let error = Ran::threadline(database, &["config", "--limits-documents", "none.json"], "").refused(2);
        assert!(error.contains("cannot be read"), "{error}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hidden_schema_tells_nothing_of_itself() {
    with_database(Backend::Sqlite, async |database| {
        let hidden = Surface {
            introspection: false,
            ..Surface::default()
        };
        let server = TestServer::start_showing(database, hidden).await;
        for query in [
            "{__schema{types{name}}}",
            "{__type(name:\"Query\"){name}}",
            "{viewer{role} ...f} fragment f on Query{a:__schema{queryType{name}}}",
            "{viewer{rol}}",
            "{agnt(id:\"a\"){id}}",
            "{agent(i:\"a\"){id}}",
            "mutation{resetThred(input:{}){drawn}}",
            "query($x:ThreadKy){threadByKey(key:$x){id}}",
            "{...on Agnt{id}}",
        ] {
            let answer = server.graphql(query, Value::Null).await;
            let code = &answer.body["errors"][0]["extensions"]["code"];
            assert_eq!(code, "GRAPHQL_VALIDATION_FAILED", "{query}: {}", answer.raw);
            assert!(!answer.raw.contains("Did you mean"), "{query}: {}", answer.raw);
            assert!(!answer.raw.contains("\"types\""), "{query}: {}", answer.raw);
        }
        let answer = server
            .graphql("{__typename viewer{__typename role}}", Value::Null)
            .await;
        assert_eq!(
            answer.data(""),
            &json!({ "__typename": "Query", "viewer": { "__typename": "Viewer", "role": "ADMIN" } })
        );
        let answer = server.get("/schema.graphql").await;
        assert_eq!((answer.status, answer.code()), (404, "NOT_FOUND"));
        assert!(TestServer::start(database).await.is_ok("/schema.graphql").await);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_graphiql_a_browser_is_answered_like_anybody() {
    with_database(Backend::Sqlite, async |database| {
        let server = Process::start(
            database,
            &["--graphql-graphiql=false", "--graphql-introspection=false"],
        )
        .await;
        for path in [
            "/",
            "/graphiql",
            "/graphiql/boot.js",
            "/graphiql/index.html",
            "/schema.graphql",
        ] {
            let answer = server.get(path).await;
            assert_eq!((answer.status, answer.code()), (404, "NOT_FOUND"), "{path}");
        }
        let browser = server
            .http()
            .get(server.url("/graphql"))
            .header("accept", "text/html,*/*;q=0.8");
        let answer = Answer::read(browser.send().await.unwrap()).await;
        assert_eq!((answer.status, answer.code()), (400, "BAD_USER_INPUT"));
        server.graphql("{__typename}", Value::Null).await.data("");
    })
    .await;
}
