//! Variables that are not given: what they stand for is left out.

use serde_json::{Value, json};

use crate::support::{Database, Key, TestServer, on_both};

on_both! {
    an_argument_whose_variable_is_not_given_has_its_default,
    a_boundary_id_whose_variable_is_not_given_is_left_out,
    several_operations_may_share_a_variable_that_one_is_not_given,
    a_variable_that_is_null_or_unused_is_refused_as_ever,
    a_variable_keeps_its_default_in_a_directive,
}

async fn an_argument_whose_variable_is_not_given_has_its_default(db: &Database) {
    let server = TestServer::start(db).await;
    server.say_many(&Key::of("p"), 60).await;
    let query = "query($limit: Int, $cursor: String, $by: ThreadOrder, $channel: String) { agent(id: \"support\") { \
        messages(limit: $limit, cursor: $cursor) { items { id } hasMore } \
        threads(limit: $limit, orderBy: $by, channel: $channel) { items { ...T } } } } \
        fragment T on Thread { messages(limit: $limit, view: FULL) { hasMore } }";
    for variables in [Value::Null, json!({}), json!({ "cursor": null, "channel": null })] {
        let answer = server
            .graphql(
                &query.replace("limit: $limit, orderBy", "limit: 1, orderBy"),
                variables,
            )
            .await;
        let page = answer.data("/agent/messages");
        assert_eq!(
            (page["items"].as_array().map(Vec::len), &page["hasMore"]),
            (Some(50), &json!(true))
        );
        assert_eq!(*answer.data("/agent/threads/items/0/messages/hasMore"), true);
    }
    let answer = server
        .graphql(
            &query.replace("limit: $limit, orderBy", "limit: 1, orderBy"),
            json!({ "limit": 7 }),
        )
        .await;
    assert_eq!(
        answer.data("/agent/messages/items").as_array().map(Vec::len),
        Some(7)
    );
}

async fn a_boundary_id_whose_variable_is_not_given_is_left_out(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    server.say(&key, "t", &["hello"]).await;
    server
        .reset(&server.thread_id(&key).await)
        .await
        .data("/resetThread");
    let append = async |turn: &str, variables: Value| {
        let query = format!(
            "mutation($b: ID) {{ appendTurn(input: {{ thread: {{ agentId: \"support\", channel: \"widget\", personId: \"p\" }}, \
             turnId: \"{turn}\", boundaryId: $b, messages: [{{ role: USER, content: {{ parts: [{{ type: \"text\", text: \"x\" }}] }} }}] }}) \
             {{ messages {{ inContext }} }} }}"
        );
        let answer = server.graphql(&query, variables).await;
        answer.data("/appendTurn/messages/0/inContext").clone()
    };
    assert_eq!(
        append("not given", json!({})).await,
        true,
        "the turn belongs to now"
    );
    assert_eq!(
        append("null", json!({ "b": null })).await,
        false,
        "there was no boundary when it began"
    );
}

async fn several_operations_may_share_a_variable_that_one_is_not_given(db: &Database) {
    let server = TestServer::start(db).await;
    server.say_many(&Key::of("p"), 60).await;
    let query = "query One($limit: Int) { agent(id: \"support\") { ...A } } \
        query Two($limit: Int) { agent(id: \"support\") { ...A threads(limit: $limit) { hasMore } } } \
        query Three($limit: Int) { agent(id: \"support\") { ...A } } \
        fragment A on Agent { messages(limit: $limit) { items { id } } }";
    for (operation, variables, length) in [
        ("One", json!({}), 50),
        ("Two", json!({}), 50),
        ("Three", json!({ "limit": 3 }), 3),
    ] {
        let body = json!({ "query": query, "operationName": operation, "variables": variables });
        let answer = server.post(body.to_string()).await;
        assert_eq!(
            answer.data("/agent/messages/items").as_array().map(Vec::len),
            Some(length),
            "{operation}"
        );
    }
}

async fn a_variable_that_is_null_or_unused_is_refused_as_ever(db: &Database) {
    let server = TestServer::start(db).await;
    let page = "agent(id: \"support\") { messages(limit: $limit) { hasMore } }";
    for (query, variables) in [
        (
            format!("query($limit: Int) {{ {page} }}"),
            json!({ "limit": null }),
        ),
        (format!("query($limit: Int!) {{ {page} }}"), json!({})),
        (format!("query($limit: Int = 0) {{ {page} }}"), json!({})),
        (
            format!("query($limit: Int, $unused: Int) {{ {page} }}"),
            json!({ "limit": 1 }),
        ),
        (format!("query {{ {page} }}"), json!({})),
    ] {
        let answer = server.graphql(&query, variables).await;
        assert!(
            ["BAD_USER_INPUT", "GRAPHQL_VALIDATION_FAILED"].contains(&answer.code()),
            "{query}: {}",
            answer.raw
        );
    }
}

async fn a_variable_keeps_its_default_in_a_directive(db: &Database) {
    let server = TestServer::start(db).await;
    let document =
        "query($yes: Boolean = true) { viewer { role @include(if: $yes) teamId @skip(if: $yes) } }";
    let answer = server.graphql(document, Value::Null).await;
    assert_eq!(answer.data("/viewer"), &json!({ "role": "ADMIN" }));
    let answer = server.graphql(document, json!({ "yes": false })).await;
    assert_eq!(answer.data("/viewer"), &json!({ "teamId": "default" }));
}
