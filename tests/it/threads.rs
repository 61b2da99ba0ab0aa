//! Lookups, and how refusals look in GraphQL.

use serde_json::{Value, json};

use crate::support::{Database, Key, TestServer, id, on_both};

on_both! {
    without_auth_the_viewer_is_the_admin_of_the_default_team,
    a_thread_is_found_by_its_id_and_by_its_key,
    a_field_under_several_names_is_answered_under_each,
    a_lookup_of_what_is_not_there_is_null,
    a_refused_field_is_null_with_its_path_and_its_siblings_are_answered,
    a_refused_mutation_is_null_and_the_next_one_runs,
    errors_are_ten_at_most_and_short,
    threads_of_other_agents_channels_and_people_are_others,
}

async fn without_auth_the_viewer_is_the_admin_of_the_default_team(db: &Database) {
    let server = TestServer::start(db).await;
    let answer = server
        .graphql(
            "{ viewer { teamId role agentId personId thread { id } } }",
            Value::Null,
        )
        .await;
    assert_eq!(
        *answer.data("/viewer"),
        json!({ "teamId": "default", "role": "ADMIN", "agentId": null, "personId": null, "thread": null })
    );
}

async fn a_thread_is_found_by_its_id_and_by_its_key(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::new("support", "telegram", "p");
    server.say(&key, "t", &["hello"]).await;
    let id = server.thread_id(&key).await;
    let query = "query($id: ID!, $key: ThreadKeyInput!) { thread(id: $id) { ...T } threadByKey(key: $key) { ...T } } \
        fragment T on Thread { id agent { id } channel personId createdAt lastMessageAt messageCount boundary { id } }";
    let answer = server
        .graphql(query, json!({ "id": id, "key": key.json() }))
        .await;
    assert_eq!(answer.data("/thread"), answer.data("/threadByKey"));
    let thread = answer.data("/thread");
    assert_eq!(
        (&thread["agent"]["id"], &thread["channel"], &thread["personId"]),
        (&json!("support"), &json!("telegram"), &json!("p"))
    );
    assert_eq!(
        (&thread["messageCount"], &thread["boundary"]),
        (&json!(1), &Value::Null)
    );
}

async fn a_field_under_several_names_is_answered_under_each(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    server.say(&key, "t", &["hello"]).await;
    let id = server.thread_id(&key).await;
    server.reset(&id).await.data("/resetThread");
    server.say(&key, "u", &["new"]).await;
    let fields = "agent { id } boundary { id } messages(limit: 2) { items { text thread { id } } } context { boundaryId }";
    let query = format!(
        "query($id: ID!, $key: ThreadKeyInput!) {{ a: thread(id: $id) {{ x: boundary {{ id }} {fields} }} \
         b: thread(id: $id) {{ x: boundary {{ id }} {fields} }} c: threadByKey(key: $key) {{ x: boundary {{ id }} {fields} }} }}"
    );
    let answer = server
        .graphql(&query, json!({ "id": id, "key": key.json() }))
        .await;
    let thread = answer.data("/a");
    assert!(thread["boundary"]["id"].is_string());
    assert_eq!(thread["x"], thread["boundary"]);
    assert_eq!(thread["context"]["boundaryId"], thread["boundary"]["id"]);
    assert_eq!(
        thread["messages"]["items"][1],
        json!({ "text": "new", "thread": { "id": id } })
    );
    assert_eq!((answer.data("/b"), answer.data("/c")), (thread, thread));
}

async fn a_lookup_of_what_is_not_there_is_null(db: &Database) {
    let server = TestServer::start(db).await;
    server.say(&Key::of("p"), "t", &["hello"]).await;
    for id in [
        id::unused_thread(),
        "chat-018f2b5c-0000-4000-8000-000000000000".to_owned(),
    ] {
        let answer = server
            .graphql("query($id: ID!) { thread(id: $id) { id } }", json!({ "id": id }))
            .await;
        assert_eq!(*answer.data("/thread"), Value::Null, "{id}");
    }
    for key in [
        Key::of("q"),
        Key::new("sales", "widget", "p"),
        Key::new("support", "api", "p"),
    ] {
        assert_eq!(server.thread(&key, "id").await, Value::Null);
    }
    assert_eq!(
        *server
            .graphql("{ agent(id: \"nobody\") { id } }", Value::Null)
            .await
            .data("/agent/id"),
        "nobody"
    );
}

async fn a_refused_field_is_null_with_its_path_and_its_siblings_are_answered(db: &Database) {
    let server = TestServer::start(db).await;
    server.say(&Key::of("p"), "t", &["hello"]).await;
    let query = "{ agent(id: \"support\") { id bad: messages(limit: 0) { hasMore } good: messages { hasMore } \
        worse: threads(cursor: \"x\") { hasMore } } viewer { teamId } }";
    let answer = server.graphql(query, Value::Null).await;
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.body["data"].to_string(),
        r#"{"agent":{"id":"support","bad":null,"good":{"hasMore":false},"worse":null},"viewer":{"teamId":"default"}}"#
    );
    let mut errors: Vec<_> = answer.body["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| {
            (
                error["path"].to_string(),
                error["extensions"]["code"].as_str().unwrap(),
            )
        })
        .collect();
    errors.sort();
    assert_eq!(
        errors,
        [
            (r#"["agent","bad"]"#.to_owned(), "BAD_USER_INPUT"),
            (r#"["agent","worse"]"#.to_owned(), "INVALID_CURSOR"),
        ]
    );
}

async fn a_refused_mutation_is_null_and_the_next_one_runs(db: &Database) {
    let server = TestServer::start(db).await;
    server.say(&Key::of("p"), "t", &["hello"]).await;
    let query = "mutation($id: ID!, $no: ID!) { no: resetThread(input: { threadId: $no }) { drawn } yes: resetThread(input: { threadId: $id }) { drawn } }";
    let id = server.thread_id(&Key::of("p")).await;
    let answer = server
        .graphql(query, json!({ "id": id, "no": id::unused_thread() }))
        .await;
    assert_eq!(
        answer.body["data"],
        json!({ "no": null, "yes": { "drawn": true } })
    );
    assert_eq!(
        (answer.code(), &answer.body["errors"][0]["path"]),
        ("NOT_FOUND", &json!(["no"]))
    );
}

async fn errors_are_ten_at_most_and_short(db: &Database) {
    let server = TestServer::start(db).await;
    let fields: Vec<String> = (0..25)
        .map(|n| format!("m{n}: messages(limit: 0) {{ hasMore }}"))
        .collect();
    let answer = server
        .graphql(
            &format!("{{ agent(id: \"support\") {{ {} }} }}", fields.join(" ")),
            Value::Null,
        )
        .await;
    let errors = answer.body["errors"].as_array().unwrap();
    assert!((1..=10).contains(&errors.len()), "{} errors", errors.len());
    let long = format!("{{ {} }}", "x".repeat(5_000));
    let answer = server.graphql(&long, Value::Null).await;
    for error in answer.body["errors"].as_array().unwrap().iter().chain(errors) {
        assert!(error["message"].as_str().unwrap().chars().count() <= 300);
    }
}

async fn threads_of_other_agents_channels_and_people_are_others(db: &Database) {
    let server = TestServer::start(db).await;
    let mut ids = std::collections::HashSet::new();
    for key in [
        Key::new("a", "api", "p"),
        Key::new("b", "api", "p"),
        Key::new("a", "web", "p"),
        Key::new("a", "api", "q"),
        Key::new("a", "api", "P"),
        Key::new("A", "api", "p"),
        Key::new("a", "api", "p "),
    ] {
        server.say(&key, "t", &["hello"]).await;
        assert!(ids.insert(server.thread_id(&key).await), "{key:?}");
    }
}
