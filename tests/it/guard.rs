//! Documents that attackers and odd clients send: each is refused at once, and the server lives.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Backend, TestServer, with_database};

/// Sends each document and asserts the code it is refused with, in little time.
async fn are_refused(documents: Vec<(&str, String, &str)>) {
    with_database(Backend::Sqlite, async |database| {
        let server = TestServer::start(database).await;
        for (what, document, code) in &documents {
            let began = Instant::now();
            let answer = server.graphql(document, Value::Null).await;
            let took = began.elapsed();
            assert_eq!(answer.code(), *code, "{what}");
            assert!(answer.body.get("data").is_none(), "{what}: {}", answer.raw);
            assert!(answer.message().chars().count() <= 300, "{what}");
            assert!(took < Duration::from_secs(5), "{what} took {took:?}");
            assert!(server.is_ok("/readyz").await, "{what} ended the server");
        }
    })
    .await;
}

fn fragment_bomb(fragments: usize) -> String {
    let spread = |n: usize| {
        format!(
            "fragment f{n} on Query {{ ...f{next} ...f{next} }} ",
            next = n + 1
        )
    };
    let bomb: String = (0..fragments - 1).map(spread).collect();
    format!(
        "{{ ...f0 }} {bomb} fragment f{} on Query {{ __typename }}",
        fragments - 1
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_that_asks_for_too_much_is_refused_at_once() {
    let many = |count: usize, one: fn(usize) -> String| (0..count).map(one).collect::<String>();
    are_refused(
        [
            (
                "nested objects",
                format!("{{n(x:{}1{})}}", "{a:".repeat(2_000), "}".repeat(2_000)),
            ),
            (
                "nested lists",
                format!("{{n(x:{}{})}}", "[".repeat(2_000), "]".repeat(2_000)),
            ),
            (
                "nested types",
                format!("query($v:{}Int{}){{n}}", "[".repeat(2_000), "]".repeat(2_000)),
            ),
            (
                "nested defaults",
                format!("query($v:J={}1{}){{n}}", "{a:".repeat(2_000), "}".repeat(2_000)),
            ),
            (
                "nested fields",
                format!("{}a{}", "{a".repeat(2_000), "}".repeat(2_000)),
            ),
            (
                "a nest that is not closed",
                "{a(x:[".to_owned() + &"[".repeat(2_000),
            ),
            ("a fragment bomb", fragment_bomb(20)),
            ("twenty-one fragments", fragment_bomb(21)),
            (
                "aliases",
                format!("{{{}}}", many(200_000, |n| format!("a{n}:__typename "))),
            ),
            (
                "aliases below the byte limit",
                format!("{{{}}}", many(900, |n| format!("a{n}:__typename "))),
            ),
            (
                "operations",
                many(20_000, |n| format!("query q{n}{{__typename}}")),
            ),
            (
                "variables",
                format!("query({}){{__typename}}", many(20_000, |n| format!("$v{n}:Int "))),
            ),
            (
                "directives on a query",
                format!("query {} {{__typename}}", "@aa ".repeat(50_000)),
            ),
            (
                "directives on a spread",
                format!(
                    "{{...f {}}} fragment f on Query{{__typename}}",
                    "@aa ".repeat(900)
                ),
            ),
            (
                "depth",
                format!("{{{}id{}}}", "thread(id:1){agent{".repeat(9), "}}".repeat(9)),
            ),
            (
                "introspection",
                format!(
                    "{{__schema{{types{{{}name{}}}}}}}",
                    "fields{type{".repeat(10),
                    "}}".repeat(10)
                ),
            ),
            (
                "wide introspection below the depth limit",
                format!(
                    "{{__schema{{types{{{}name{}}}}}}}",
                    "fields{type{".repeat(6),
                    "}}".repeat(6)
                ),
            ),
            (
                "pages of the greatest size",
                format!(
                    "{{agent(id:\"a\"){{{}}}}}",
                    many(10, |n| format!("p{n}:messages(limit:200){{items{{id text}}}} "))
                ),
            ),
            (
                "pages of pages",
                "{agent(id:\"a\"){threads{items{messages{items{id}}}}}}".to_owned(),
            ),
        ]
        .map(|(what, document)| (what, document, "QUERY_TOO_COMPLEX"))
        .into(),
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_valid_graphql_is_refused_with_a_code() {
    are_refused(
        [
            ("nothing", ""),
            ("white space", " \n# only a comment"),
            ("half a document", "{ viewer {"),
            ("an open string", "{ thread(id: \"x) { id } }"),
            ("an unknown field", "{ nothing }"),
            ("an unknown argument", "{ thread(id: \"x\", nothing: 1) { id } }"),
            ("an unknown fragment", "{ ...nothing }"),
            (
                "a fragment cycle",
                "{ ...a } fragment a on Query { ...b } fragment b on Query { ...a }",
            ),
            ("a field without its fields", "{ viewer }"),
            (
                "two operations and no name",
                "query a { __typename } query b { __typename }",
            ),
            ("a schema", "type Query { a: Int }"),
            ("a byte that is none of GraphQL", "{ a\u{0} }"),
        ]
        .map(|(what, document)| (what, document.to_owned(), "GRAPHQL_VALIDATION_FAILED"))
        .into(),
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_would_be_altered_in_silence_is_refused() {
    let append = |value: &str| {
        format!(
            "mutation {{ appendTurn(input: {{ thread: {{ agentId: \"a\", channel: \"api\", personId: \"p\" }}, turnId: \"t\", \
             messages: [{{ role: USER, content: {{ parts: [{{ type: \"data-x\", value: {value} }}] }} }}] }}) {{ replayed }} }}"
        )
    };
    are_refused(
        [("a key twice", append("{ a: 1, a: 2 }"))]
            .map(|(what, document)| (what, document, "BAD_USER_INPUT"))
            .into(),
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_variable_that_is_used_often_is_refused() {
    with_database(Backend::Sqlite, async |database| {
        let server = TestServer::start(database).await;
        let document = format!(
            "mutation($v: MessageInput!) {{ appendTurn(input: {{ thread: {{ agentId: \"a\", channel: \"api\", personId: \"p\" }}, \
             turnId: \"t\", messages: [{}] }}) {{ replayed }} }}",
            "$v ".repeat(3_900)
        );
        let message = json!({ "role": "USER", "content": { "parts": [{ "type": "data-x", "v": vec![1; 200_000] }] } });
        let answer = server.graphql(&document, json!({ "v": message })).await;
        assert_eq!(answer.code(), "QUERY_TOO_COMPLEX", "{}", answer.raw);
        assert!(server.is_ok("/readyz").await);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn at_most_ten_errors_are_told() {
    with_database(Backend::Sqlite, async |database| {
        let server = TestServer::start(database).await;
        let unknown: String = (0..9).map(|n| format!("unknown{n} ")).collect();
        let document = format!("{{ viewer {{ {unknown} }} agent(id: \"a\") {{ {unknown} }} }}");
        let answer = server.graphql(&document, Value::Null).await;
        let errors = answer.body["errors"].as_array().unwrap();
        assert_eq!(errors.len(), 10);
        for error in errors {
            assert_eq!(error["extensions"]["code"], "GRAPHQL_VALIDATION_FAILED");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_out_of_its_form_is_refused_as_a_literal_and_as_a_variable() {
    with_database(Backend::Sqlite, async |database| {
        let server = TestServer::start(database).await;
        for (limit, code) in [
            ("0", "BAD_USER_INPUT"),
            ("-1", "BAD_USER_INPUT"),
            ("201", ""),
            ("2147483647", ""),
            ("2147483648", "BAD_USER_INPUT"),
            ("null", "BAD_USER_INPUT"),
            ("\"50\"", "BAD_USER_INPUT"),
            ("50.0", "BAD_USER_INPUT"),
            ("[]", "BAD_USER_INPUT"),
            ("true", "BAD_USER_INPUT"),
        ] {
            for list in ["messages", "threads"] {
                let literal =
                    format!("{{ agent(id: \"a\") {{ {list}(limit: {limit}) {{ items {{ id }} }} }} }}");
                let variable = format!(
                    "query($n: Int!) {{ agent(id: \"a\") {{ {list}(limit: $n) {{ items {{ id }} }} }} }}"
                );
                let value: Value = serde_json::from_str(limit).unwrap();
                for (how, answer) in [
                    ("literal", server.graphql(&literal, Value::Null).await),
                    ("variable", server.graphql(&variable, json!({ "n": value })).await),
                ] {
                    if code.is_empty() {
                        answer.data("/agent");
                    } else {
                        assert_eq!(answer.code(), code, "{list} {limit} as a {how}: {}", answer.raw);
                    }
                }
            }
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_variable_keeps_its_default_in_a_directive() {
    with_database(Backend::Sqlite, async |database| {
        let server = TestServer::start(database).await;
        let document =
            "query($yes: Boolean = true) { viewer { role @include(if: $yes) teamId @skip(if: $yes) } }";
        let answer = server.graphql(document, Value::Null).await;
        assert_eq!(answer.data("/viewer"), &json!({ "role": "ADMIN" }));
        let answer = server.graphql(document, json!({ "yes": false })).await;
        assert_eq!(answer.data("/viewer"), &json!({ "teamId": "default" }));
    })
    .await;
}
