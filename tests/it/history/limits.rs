//! How long a page is.

use serde_json::{Value, json};

use crate::support::{Database, Key, List, TestServer, Turn, on_both, text_part};

const QUERY: &str =
    "query($limit: Int!) { agent(id: \"support\") { messages(limit: $limit) { items { id } hasMore } } }";

on_both! {
    a_page_has_50_items_unless_asked_and_200_at_most,
    a_limit_under_1_is_refused_by_every_list,
    a_limit_that_is_no_int_is_refused,
    a_page_stops_at_8_mib_of_content,
    the_lists_of_a_request_share_32_mib_of_content_under_whatever_names,
}

async fn a_page_has_50_items_unless_asked_and_200_at_most(db: &Database) {
    let server = TestServer::start(db).await;
    server.say_many(&Key::of("p"), 300).await;
    let absent = server
        .graphql(
            "{ agent(id: \"support\") { messages { items { id } } } }",
            Value::Null,
        )
        .await;
    assert_eq!(absent.data("/agent/messages/items").as_array().unwrap().len(), 50);
    let absent = server.get("/agents/support/chat/messages").await;
    assert_eq!(absent.body["items"].as_array().unwrap().len(), 50);
    for (limit, items) in [(1, 1), (50, 50), (200, 200), (201, 200), (2_147_483_647, 200)] {
        let page = server.page(&List::of_agent("support"), limit, None).await;
        assert_eq!((page.items.len(), page.has_more), (items, true), "limit {limit}");
        let page = server.rest_page(&List::of_agent("support"), limit, None).await;
        assert_eq!((page.items.len(), page.has_more), (items, true), "limit {limit}");
    }
}

async fn a_limit_under_1_is_refused_by_every_list(db: &Database) {
    let server = TestServer::start(db).await;
    server.say(&Key::of("p"), "t", &["hello"]).await;
    let thread = server.thread_id(&Key::of("p")).await;
    let lists = [
        List::of_agent("support"),
        List::threads("support"),
        List::of_thread("support", &thread),
        List::context_of("support", &thread),
    ];
    for list in &lists {
        for limit in [0, -1, -2_147_483_648] {
            let answer = server.try_page(list, limit, None).await;
            assert_eq!(answer.code(), "BAD_USER_INPUT", "{list:?} {limit}");
            assert!(answer.body["data"].pointer(list.pointer()).unwrap().is_null());
        }
    }
}

async fn a_limit_that_is_no_int_is_refused(db: &Database) {
    let server = TestServer::start(db).await;
    server.say(&Key::of("p"), "t", &["hello"]).await;
    for limit in [
        json!("50"),
        json!(50.5),
        json!(2_147_483_648_u64),
        json!(-2_147_483_649_i64),
        Value::Null,
        json!([1, 2]),
        json!(true),
    ] {
        let answer = server.graphql(QUERY, json!({ "limit": limit })).await;
        assert!(
            ["BAD_USER_INPUT", "GRAPHQL_VALIDATION_FAILED"].contains(&answer.code()),
            "{limit}: {}",
            answer.raw
        );
        assert!(
            answer.body.pointer("/data/agent/messages/items").is_none(),
            "{limit}: {}",
            answer.raw
        );
    }
    for limit in ["\"50\"", "50.0", "2147483648", "null", "1e2", "ALL"] {
        let query =
            format!("{{ agent(id: \"support\") {{ messages(limit: {limit}) {{ items {{ id }} }} }} }}");
        let answer = server.graphql(&query, Value::Null).await;
        assert!(
            ["BAD_USER_INPUT", "GRAPHQL_VALIDATION_FAILED"].contains(&answer.code()),
            "{limit}: {}",
            answer.raw
        );
        assert!(
            answer.body.pointer("/data/agent/messages/items").is_none(),
            "{limit}: {}",
            answer.raw
        );
    }
}

async fn a_page_stops_at_8_mib_of_content(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    // 50 messages of 250 KiB: 32 of them fit into 8 MiB.
    let part = text_part(&"x".repeat(250 * 1024));
    for turn in 0..10 {
        let turn = (0..5).fold(Turn::new(&format!("t{turn}")), |turn, _| {
            turn.with_parts("USER", json!([part]))
        });
        server.append(&key, &turn).await;
    }
    let thread = server.thread_id(&key).await;
    for list in [List::of_thread("support", &thread), List::of_agent("support")] {
        let pages = server.walk(&list, 200).await;
        let sizes: Vec<_> = pages.iter().map(|page| page.items.len()).collect();
        assert_eq!(sizes, [32, 18]);
        let ids: Vec<_> = pages.iter().rev().flat_map(|page| page.ids()).collect();
        assert!(ids.is_sorted() && ids.len() == 50);
        let rest = server.rest_page(&list, 200, None).await;
        assert_eq!((rest.items.len(), rest.has_more), (32, true));
    }
}

async fn the_lists_of_a_request_share_32_mib_of_content_under_whatever_names(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    // 35 messages of 250 KiB: more than 8 MiB.
    let part = text_part(&"x".repeat(250 * 1024));
    for turn in 0..7 {
        let turn = (0..5).fold(Turn::new(&format!("t{turn}")), |turn, _| {
            turn.with_parts("USER", json!([part]))
        });
        server.append(&key, &turn).await;
    }
    let thread = format!("thread(id: \"{}\")", server.thread_id(&key).await);
    for root in ["agent(id: \"support\")", &thread] {
        let lists: String = (0..8)
            .map(|n| format!("m{n}: messages(limit: 35) {{ items {{ content }} hasMore }} "))
            .collect();
        let answer = server
            .graphql(&format!("{{ {root} {{ {lists} }} }}"), Value::Null)
            .await;
        let most = 33 << 20;
        assert!(answer.raw.len() < most, "{root}: {} bytes", answer.raw.len());
        let lists = answer.body["data"].as_object().unwrap().values().next().unwrap();
        let lists = lists.as_object().unwrap().values();
        let given: Vec<&Value> = lists.filter(|list| !list.is_null()).collect();
        assert!(given.len() >= 4, "{root}");
        assert!(given.iter().all(|list| list["hasMore"] == true), "{root}");
        for error in answer.body["errors"].as_array().into_iter().flatten() {
            assert_eq!(error["extensions"]["code"], "QUERY_TOO_COMPLEX", "{root}");
        }
    }
    let copies = "{ agent(id: \"support\") { messages(limit: 35) { items { \
        a: content b: content c: content d: text e: text f: text } } } }";
    assert_eq!(
        server.graphql(copies, Value::Null).await.code(),
        "QUERY_TOO_COMPLEX"
    );
}
