//! Pages in pages.

use serde_json::Value;

use crate::support::{Database, Key, TestServer, on_both};

on_both! {
    fifty_threads_with_five_messages_each_are_one_request,
    a_nested_page_goes_on_by_its_cursor,
    nested_pages_of_large_messages_end_early_and_go_on_by_their_cursors,
    two_hundred_threads_with_several_pages_each_are_one_request,
    two_hundred_threads_with_several_boundaries_and_contexts_each_are_one_request,
    two_nested_default_pages_are_too_complex_and_the_error_says_what_to_lower,
}

async fn fifty_threads_with_five_messages_each_are_one_request(db: &Database) {
    let server = TestServer::start(db).await;
    for person in 0..52 {
        let texts: Vec<String> = (0..person % 8 + 1).map(|n| format!("{person}.{n}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        server.say(&Key::of(&format!("p{person:02}")), "t", &texts).await;
    }
    let query = "{ agent(id: \"support\") { threads(limit: 50) { hasMore items { personId \
        boundary { id } messages(limit: 5) { items { text thread { personId } } nextCursor hasMore } } } } }";
    let answer = server.graphql(query, Value::Null).await;
    let threads = answer.data("/agent/threads/items").as_array().unwrap();
    assert_eq!(
        (threads.len(), answer.data("/agent/threads/hasMore")),
        (50, &Value::Bool(true))
    );
    for (thread, person) in threads.iter().zip(2..) {
        assert_eq!(thread["personId"], format!("p{person:02}"));
        let count = person % 8 + 1;
        let expected: Vec<String> = (0..count)
            .map(|n| format!("{person}.{n}"))
            .skip((count - 5).max(0) as usize)
            .collect();
        let page = &thread["messages"];
        let items = page["items"].as_array().unwrap();
        assert_eq!(
            items
                .iter()
                .map(|item| item["text"].as_str().unwrap())
                .collect::<Vec<_>>(),
            expected
        );
        assert!(
            items
                .iter()
                .all(|item| item["thread"]["personId"] == thread["personId"])
        );
        assert_eq!(page["hasMore"], count > 5);
        assert_eq!(page["nextCursor"].is_null(), count <= 5);
    }
}

async fn a_nested_page_goes_on_by_its_cursor(db: &Database) {
    let server = TestServer::start(db).await;
    for person in ["a", "b"] {
        server
            .say(&Key::of(person), "t", &["1", "2", "3", "4", "5"])
            .await;
    }
    let answer = server
        .graphql(
            "{ agent(id: \"support\") { threads { items { id messages(limit: 2) { nextCursor } } } } }",
            Value::Null,
        )
        .await;
    let threads = answer.data("/agent/threads/items").as_array().unwrap();
    let list = |at: usize| crate::support::List::of_thread("support", threads[at]["id"].as_str().unwrap());
    for at in [0, 1] {
        let cursor = threads[at]["messages"]["nextCursor"].as_str();
        assert_eq!(server.page(&list(at), 2, cursor).await.texts(), ["2", "3"]);
        assert_eq!(
            server.try_page(&list(1 - at), 2, cursor).await.code(),
            "INVALID_CURSOR"
        );
    }
}

async fn two_hundred_threads_with_several_pages_each_are_one_request(db: &Database) {
    let server = TestServer::start(db).await;
    for person in 0..200 {
        server
            .say(&Key::of(&format!("p{person:03}")), "t", &["first", "last"])
            .await;
    }
    let query = "{ agent(id: \"support\") { threads(limit: 200) { items { personId \
        a: messages(limit: 1) { items { text } hasMore } b: messages(limit: 2) { items { text } hasMore } \
        c: messages(limit: 2, view: CONTEXT) { items { text } } } } } }";
    let answer = server.graphql(query, Value::Null).await;
    let threads = answer.data("/agent/threads/items").as_array().unwrap();
    assert_eq!(threads.len(), 200);
    for (thread, person) in threads.iter().zip(0..) {
        assert_eq!(thread["personId"], format!("p{person:03}"));
        assert_eq!(
            thread["a"].to_string(),
            r#"{"items":[{"text":"last"}],"hasMore":true}"#
        );
        assert_eq!(
            thread["b"].to_string(),
            r#"{"items":[{"text":"first"},{"text":"last"}],"hasMore":false}"#
        );
        assert_eq!(thread["c"]["items"], thread["b"]["items"]);
    }
}

async fn two_hundred_threads_with_several_boundaries_and_contexts_each_are_one_request(db: &Database) {
    let server = TestServer::start(db).await;
    let mut boundaries = Vec::new();
    for person in 0..200 {
        let key = Key::of(&format!("p{person:03}"));
        server.say(&key, "t", &["hello"]).await;
        let drawn = server.reset(&server.thread_id(&key).await).await;
        boundaries.push(drawn.data("/resetThread/boundary/id").clone());
    }
    let fields: Vec<String> = (0..6).map(|n| format!("b{n}: boundary {{ id }}")).collect();
    let contexts: Vec<String> = (1..4)
        .map(|n| format!("c{n}: context(limit: {n}) {{ boundaryId }}"))
        .collect();
    for fields in [fields, contexts] {
        let query = format!(
            "{{ agent(id: \"support\") {{ threads(limit: 200) {{ items {{ {} }} }} }} }}",
            fields.join(" ")
        );
        let answer = server.graphql(&query, Value::Null).await;
        let threads = answer.data("/agent/threads/items").as_array().unwrap();
        assert_eq!(threads.len(), 200);
        for (thread, boundary) in threads.iter().zip(&boundaries) {
            for found in thread.as_object().unwrap().values() {
                let found = found.get("id").or(found.get("boundaryId"));
                assert_eq!(found, Some(boundary));
            }
        }
    }
}

async fn nested_pages_of_large_messages_end_early_and_go_on_by_their_cursors(db: &Database) {
    let server = TestServer::start(db).await;
    let large = "x".repeat(250 << 10);
    // 40 MB in all, of which one answer holds 32 MiB at the most.
    for person in 0..20 {
        let texts: Vec<String> = (0..8).map(|n| format!("{n}{large}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        server.say(&Key::of(&format!("p{person:02}")), "t", &texts).await;
    }
    let query = "{ agent(id: \"support\") { threads { items { id messages(limit: 8) { items { text } nextCursor hasMore } } } } }";
    let answer = server.graphql(query, Value::Null).await;
    assert!(answer.raw.len() < 33 << 20, "{} bytes", answer.raw.len());
    for thread in answer.data("/agent/threads/items").as_array().unwrap() {
        let page = &thread["messages"];
        assert_eq!(
            (page["items"].as_array().unwrap().len(), &page["hasMore"]),
            (6, &Value::Bool(true))
        );
        let list = crate::support::List::of_thread("support", thread["id"].as_str().unwrap());
        let rest = server.page(&list, 8, page["nextCursor"].as_str()).await;
        assert_eq!((rest.items.len(), rest.has_more), (2, false));
    }
}

async fn two_nested_default_pages_are_too_complex_and_the_error_says_what_to_lower(db: &Database) {
    let server = TestServer::start(db).await;
    let query = "{ agent(id: \"support\") { threads { items { messages { items { id text content } } } } } }";
    let answer = server.graphql(query, Value::Null).await;
    assert_eq!(answer.code(), "QUERY_TOO_COMPLEX");
    assert!(answer.message().contains("limit"), "{}", answer.message());
}
