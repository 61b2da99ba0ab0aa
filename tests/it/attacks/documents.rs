//! GraphQL documents that ask for too much, or that are none.

use serde_json::{Value, json};

use super::{Attack, BAD_INPUT, Stage, attack, sent::Sent};
use crate::support::{Database, on_both};

/// The longest URL that HTTP/1 may have here, with room for the rest of the head.
const LONGEST_URL: usize = 60_000;

const TOO_COMPLEX: &str = "QUERY_TOO_COMPLEX";
const NOT_GRAPHQL: &str = "GRAPHQL_VALIDATION_FAILED";

/// The same document by POST and, where it fits into a URL, by GET.
fn both_ways(name: &str, document: &str, variables: &Value, status: u16, code: &'static str) -> Vec<Attack> {
    let posted = Sent::document(document, variables);
    let mut attacks = vec![attack(format!("{name} by POST"), posted, status, code)];
    if document.len() < LONGEST_URL / 3 {
        let got = Sent::by_get(document, variables);
        attacks.push(attack(format!("{name} by GET"), got, status, code));
    }
    attacks
}

async fn are_refused(stage: &Stage, code: &'static str, documents: impl IntoIterator<Item = (&str, String)>) {
    for (name, document) in documents {
        stage
            .faces(both_ways(name, &document, &Value::Null, 400, code))
            .await;
    }
}

fn many(count: usize, one: impl Fn(usize) -> String) -> String {
    (0..count).map(one).collect()
}

/// Something between 2,000 openings and as many ends.
fn nest(open: &str, close: &str) -> String {
    nest_of(2_000, open, close)
}

fn nest_of(depth: usize, open: &str, close: &str) -> String {
    format!("{}1{}", open.repeat(depth), close.repeat(depth))
}

/// Fragments that each spread the next one twice.
fn fragment_bomb(fragments: usize) -> String {
    let last = fragments - 1;
    let bomb = many(last, |n| {
        let next = n + 1;
        format!("fragment f{n} on Query {{ ...f{next} ...f{next} }} ")
    });
    format!("{{ ...f0 }} {bomb} fragment f{last} on Query {{ __typename }}")
}

on_both! {
    a_document_that_asks_for_too_much_is_refused,
    what_is_not_valid_graphql_is_refused,
    a_limit_out_of_its_form_is_refused_as_a_literal_and_as_a_variable,
    a_large_variable_that_is_used_often_is_refused,
    what_would_be_altered_in_silence_is_refused,
    at_most_ten_errors_are_told,
}

async fn a_document_that_asks_for_too_much_is_refused(db: &Database) {
    let stage = Stage::set(db).await;
    let nests = [
        ("nested objects", format!("{{n(x:{})}}", nest("{a:", "}"))),
        ("nested lists", format!("{{n(x:{})}}", nest("[", "]"))),
        (
            "nested lists of a known field",
            format!("{{thread(id:{}){{id}}}}", nest("[", "]")),
        ),
        (
            "nested types",
            format!("query($v:{}Int{}){{n}}", "[".repeat(2_000), "]".repeat(2_000)),
        ),
        (
            "nested defaults",
            format!("query($v:J={}){{n}}", nest("{a:", "}")),
        ),
        (
            "nested values in a directive",
            format!("{{n @d(x:{})}}", nest("[", "]")),
        ),
        (
            "nested values in a fragment",
            format!("{{n}} fragment f on Query {{n(x:{})}}", nest("[", "]")),
        ),
        (
            "nested fields",
            format!("{}a{}", "{a".repeat(2_000), "}".repeat(2_000)),
        ),
        (
            "nested inline fragments",
            format!("{}a{}", "{...".repeat(2_000), "}".repeat(2_000)),
        ),
        (
            "a nest that is not closed",
            "{a(x:[".to_owned() + &"[".repeat(2_000),
        ),
        (
            "a nest behind a string",
            format!("{{a(x:\"\\\"[\" y:{})}}", nest("[", "]")),
        ),
        (
            "a nest behind a block string",
            format!("{{a(x:\"\"\"\\\"\"\"[\"\"\" y:{})}}", nest("[", "]")),
        ),
        (
            "a nest behind a comment",
            format!("#\"\"\"\n{{a(x:{})}}", nest("[", "]")),
        ),
    ];
    are_refused(&stage, TOO_COMPLEX, nests).await;
    let masses = [
        ("a fragment bomb of 2^20", fragment_bomb(20)),
        ("twenty-one fragments", fragment_bomb(21)),
        (
            "200,000 aliases",
            format!("{{{}}}", many(200_000, |n| format!("a{n}:__typename "))),
        ),
        (
            "900 aliases",
            format!("{{{}}}", many(900, |n| format!("a{n}:__typename "))),
        ),
        (
            "200,000 times one field",
            format!("{{{}}}", "__typename ".repeat(200_000)),
        ),
        (
            "1,900 times one field",
            format!("{{viewer{{{}}}}}", "role ".repeat(1_900)),
        ),
        (
            "20,000 operations",
            many(20_000, |n| format!("query q{n}{{__typename}}")),
        ),
        (
            "900 operations",
            many(900, |n| format!("query q{n}{{__typename}}")),
        ),
        (
            "20,000 variables",
            format!("query({}){{__typename}}", many(20_000, |n| format!("$v{n}:Int "))),
        ),
        (
            "50,000 directives on a query",
            format!("query {} {{__typename}}", "@aa ".repeat(50_000)),
        ),
        (
            "900 directives on a spread",
            format!(
                "{{...f {}}} fragment f on Query{{__typename}}",
                "@aa ".repeat(900)
            ),
        ),
        (
            "900 directives on a variable",
            format!("query($v:Int {}){{__typename}}", "@aa ".repeat(900)),
        ),
        (
            "a megabyte of commas",
            format!("{{__typename}}{}", ",".repeat(1 << 20)),
        ),
        (
            "a megabyte of comment",
            format!("{{__typename}}#{}", "x".repeat(1 << 20)),
        ),
        ("a megabyte of one name", "a".repeat(1 << 20)),
        (
            "a megabyte of one number",
            format!("{{a(x:{})}}", "1".repeat(1 << 20)),
        ),
    ];
    are_refused(&stage, TOO_COMPLEX, masses).await;
    let costs = [
        (
            "depth",
            format!("{{{}id{}}}", "thread(id:1){agent{".repeat(9), "}}".repeat(9)),
        ),
        (
            "introspection ten deep",
            format!(
                "{{__schema{{types{{{}name{}}}}}}}",
                "fields{type{".repeat(10),
                "}}".repeat(10)
            ),
        ),
        (
            "wide introspection",
            format!(
                "{{__schema{{types{{{}name{}}}}}}}",
                "fields{type{".repeat(6),
                "}}".repeat(6)
            ),
        ),
        (
            "ten pages of 200",
            format!(
                "{{agent(id:\"a\"){{{}}}}}",
                many(10, |n| format!("p{n}:messages(limit:200){{items{{id text}}}} "))
            ),
        ),
        (
            "ten pages of 200 in ten agents",
            format!(
                "{{{}}}",
                many(10, |n| format!(
                    "p{n}:agent(id:\"{n}\"){{messages(limit:200){{items{{id text content}}}}}} "
                ))
            ),
        ),
        (
            "pages of pages",
            "{agent(id:\"a\"){threads{items{messages{items{id}}}}}}".to_owned(),
        ),
        (
            "pages of contexts",
            "{agent(id:\"a\"){threads(limit:200){items{context{messages{id}}}}}}".to_owned(),
        ),
    ];
    are_refused(&stage, TOO_COMPLEX, costs).await;
    stage.stays_unharmed().await;
}

async fn what_is_not_valid_graphql_is_refused(db: &Database) {
    let stage = Stage::set(db).await;
    let documents = [
        ("nothing but white space", " \n# only a comment"),
        ("half a document", "{ viewer {"),
        ("an open string", "{ thread(id: \"x) { id } }"),
        ("an open block string", "{ thread(id: \"\"\"x) { id } }"),
        ("half an escape", "{ thread(id: \"\\u12\") { id } }"),
        ("a lone surrogate", "{ thread(id: \"\\ud800\") { id } }"),
        ("an unknown field", "{ nothing }"),
        ("an unknown argument", "{ thread(id: \"x\", nothing: 1) { id } }"),
        ("an unknown directive", "{ viewer @nothing { role } }"),
        ("an unknown fragment", "{ ...nothing }"),
        (
            "a fragment cycle",
            "{ ...a } fragment a on Query { ...b } fragment b on Query { ...a }",
        ),
        ("a fragment of itself", "{ ...a } fragment a on Query { ...a }"),
        ("a field without its fields", "{ viewer }"),
        ("fields of a field that has none", "{ viewer { role { x } } }"),
        ("an undefined variable", "{ thread(id: $x) { id } }"),
        (
            "two operations and no name",
            "query a { __typename } query b { __typename }",
        ),
        ("one name twice", "query a { __typename } query a { __typename }"),
        ("a schema", "type Query { a: Int }"),
        ("a byte that is none of GraphQL", "{ a\u{0} }"),
        ("a byte order mark in the middle", "{ \u{feff}a }"),
        ("SQL", "'; DROP TABLE message; --"),
        ("HTML", "<script>alert(1)</script>"),
    ];
    are_refused(
        &stage,
        NOT_GRAPHQL,
        documents.map(|(name, document)| (name, document.to_owned())),
    )
    .await;
    stage.stays_unharmed().await;
}

async fn a_limit_out_of_its_form_is_refused_as_a_literal_and_as_a_variable(db: &Database) {
    let stage = Stage::set(db).await;
    for limit in [
        "0",
        "-1",
        "2147483648",
        "-2147483649",
        "null",
        "\"50\"",
        "50.0",
        "[]",
        "[50]",
        "{}",
        "true",
    ] {
        for list in ["messages", "threads"] {
            let literal = format!("{{ agent(id: \"a\") {{ {list}(limit: {limit}) {{ items {{ id }} }} }} }}");
            let variable = format!(
                "query($n: Int!) {{ agent(id: \"a\") {{ {list}(limit: $n) {{ items {{ id }} }} }} }}"
            );
            let value: Value = serde_json::from_str(limit).unwrap();
            // An integer is of the right kind: its field is refused, with a null in its place.
            let status = if limit.parse::<i64>().is_ok() { 200 } else { 400 };
            for (how, document, variables) in [
                ("a literal", literal, Value::Null),
                ("a variable", variable, json!({ "n": value })),
            ] {
                let name = format!("{list}: {limit} as {how}");
                stage
                    .faces(both_ways(&name, &document, &variables, status, BAD_INPUT))
                    .await;
            }
        }
    }
    for limit in ["201", "2147483647"] {
        let document = format!(
            "{{ agent(id: \"innocent\") {{ messages(limit: {limit}) {{ items {{ id }} hasMore }} }} }}"
        );
        let asked = attack(limit, Sent::document(&document, &Value::Null), 200, "");
        let answer = stage.faces_one(&asked).await;
        assert_eq!(
            answer.data("/agent/messages/items").as_array().map(Vec::len),
            Some(30)
        );
    }
    stage.stays_unharmed().await;
}

async fn a_large_variable_that_is_used_often_is_refused(db: &Database) {
    let stage = Stage::set(db).await;
    let document = format!(
        "mutation($v: MessageInput!) {{ appendTurn(input: {{ thread: {{ agentId: \"a\", channel: \"api\", personId: \"p\" }}, \
         turnId: \"t\", messages: [{}] }}) {{ replayed }} }}",
        "$v ".repeat(3_900)
    );
    let message =
        json!({ "role": "USER", "content": { "parts": [{ "type": "data-x", "v": vec![1; 200_000] }] } });
    let sent = Sent::document(&document, &json!({ "v": message }));
    stage
        .faces([attack("a variable 3,900 times", sent, 400, TOO_COMPLEX)])
        .await;
    stage.stays_unharmed().await;
}

async fn what_would_be_altered_in_silence_is_refused(db: &Database) {
    let stage = Stage::set(db).await;
    let append = |value: &str| {
        format!(
            "mutation {{ appendTurn(input: {{ thread: {{ agentId: \"a\", channel: \"api\", personId: \"p\" }}, turnId: \"t\", \
             messages: [{{ role: USER, content: {{ parts: [{{ type: \"data-x\", value: {value} }}] }} }}] }}) {{ replayed }} }}"
        )
    };
    let twice = Sent::document(&append("{ a: 1, a: 2 }"), &Value::Null);
    stage.faces([attack("a key twice", twice, 400, BAD_INPUT)]).await;
    stage.stays_unharmed().await;
}

async fn at_most_ten_errors_are_told(db: &Database) {
    let stage = Stage::set(db).await;
    let unknown = many(9, |n| format!("unknown{n} "));
    let document = format!("{{ viewer {{ {unknown} }} agent(id: \"a\") {{ {unknown} }} }}");
    let asked = attack(
        "eighteen unknown fields",
        Sent::document(&document, &Value::Null),
        400,
        NOT_GRAPHQL,
    );
    let answer = stage.faces_one(&asked).await;
    assert_eq!(answer.body["errors"].as_array().map(Vec::len), Some(10));
    stage.stays_unharmed().await;
}
