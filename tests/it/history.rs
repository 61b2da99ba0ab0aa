//! Reading back: pages of every size, in order, with `hasMore` right.

mod limits;
mod lists;
mod nested;
mod statements;
mod while_writing;
mod whole;

use crate::support::{Database, Key, List, TestServer, on_both};

on_both! {
    an_empty_list_is_empty,
    a_full_last_page_says_so,
    a_full_last_page_of_threads_says_so,
    every_row_comes_once_and_in_order_at_sizes_around_the_limits,
    rest_and_graphql_read_the_same_pages,
    boundaries_are_rows_of_the_history,
}

async fn an_empty_list_is_empty(db: &Database) {
    let server = TestServer::start(db).await;
    for list in [List::of_agent("nobody"), List::threads("nobody")] {
        let answer = server.try_page(&list, 50, None).await;
        assert_eq!(
            answer.data(list.pointer()).to_string(),
            r#"{"items":[],"nextCursor":null,"hasMore":false}"#
        );
        let answer = server.try_rest_page(&list, 50, None).await;
        assert_eq!(
            (answer.status, answer.raw.as_str()),
            (200, r#"{"items":[],"nextCursor":null,"hasMore":false}"#)
        );
    }
    let key = Key::of("p");
    server.say(&key, "t", &["hello"]).await;
    let thread = server.thread_id(&key).await;
    server.reset(&thread).await.data("/resetThread");
    let context = server.page(&List::context_of("support", &thread), 50, None).await;
    assert_eq!((context.items.len(), context.has_more), (0, false));
}

async fn a_full_last_page_says_so(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    server.say_many(&key, 100).await;
    let list = List::of_thread("support", &server.thread_id(&key).await);
    for list in [&list, &List::of_agent("support")] {
        let newest = server.page(list, 50, None).await;
        assert_eq!((newest.items.len(), newest.has_more), (50, true));
        let last = server.page(list, 50, newest.next_cursor.as_deref()).await;
        assert_eq!(
            (last.items.len(), last.has_more, last.next_cursor),
            (50, false, None)
        );
        let whole = server.page(list, 100, None).await;
        assert_eq!(
            (whole.items.len(), whole.has_more, whole.next_cursor),
            (100, false, None)
        );
        let one_short = server.page(list, 99, None).await;
        assert_eq!((one_short.items.len(), one_short.has_more), (99, true));
    }
}

async fn a_full_last_page_of_threads_says_so(db: &Database) {
    let server = TestServer::start(db).await;
    for person in 0..10 {
        server.say(&Key::of(&format!("p{person}")), "t", &["hello"]).await;
    }
    for order in ["orderBy: CREATED", "orderBy: ACTIVITY"] {
        let list = List::threads_by("support", order);
        let newest = server.page(&list, 5, None).await;
        assert!(newest.has_more);
        let last = server.page(&list, 5, newest.next_cursor.as_deref()).await;
        assert_eq!((last.items.len(), last.has_more), (5, false), "{order}");
    }
}

async fn every_row_comes_once_and_in_order_at_sizes_around_the_limits(db: &Database) {
    let server = TestServer::start(db).await;
    for count in [1, 49, 50, 51, 199, 200, 201] {
        let key = Key::new(&format!("agent{count}"), "api", "p");
        let said = server.say_many(&key, count).await;
        let thread = server.thread_id(&key).await;
        for list in [List::of_thread(&key.agent, &thread), List::of_agent(&key.agent)] {
            for limit in [49, 50, 51, 199, 200, 201] {
                let pages = server.walk(&list, limit).await;
                let read: Vec<String> = pages.iter().rev().flat_map(|page| page.ids()).collect();
                assert_eq!(read, said, "{count} rows by {limit}");
                let size = usize::try_from(limit.min(200)).unwrap();
                assert_eq!(pages.len(), count.div_ceil(size), "{count} rows by {limit}");
                assert!(
                    pages[..pages.len() - 1]
                        .iter()
                        .all(|page| page.items.len() == size)
                );
            }
        }
    }
}

async fn rest_and_graphql_read_the_same_pages(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    server.say_many(&key, 25).await;
    let thread = server.thread_id(&key).await;
    server.reset(&thread).await.data("/resetThread");
    for list in [
        List::of_agent("support"),
        List::of_thread("support", &thread),
        List::threads("support"),
    ] {
        let mut cursor = None;
        loop {
            let graphql = server.page(&list, 10, cursor.as_deref()).await;
            let rest = server.rest_page(&list, 10, cursor.as_deref()).await;
            assert_eq!(graphql.ids(), rest.ids());
            assert_eq!(graphql.has_more, rest.has_more);
            for (by_graphql, by_rest) in graphql.items.iter().zip(&rest.items) {
                for field in [
                    "content",
                    "text",
                    "tokens",
                    "stopped",
                    "inContext",
                    "createdAt",
                    "turnId",
                    "messageCount",
                    "personId",
                ] {
                    assert_eq!(by_graphql.get(field), by_rest.get(field), "{field}");
                }
            }
            cursor = rest.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
    }
}

async fn boundaries_are_rows_of_the_history(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    let said = server.say(&key, "t", &["a", "b"]).await;
    let thread = server.thread_id(&key).await;
    server.reset(&thread).await.data("/resetThread");
    let later = server.say(&key, "u", &["c"]).await;
    let page = server.page(&List::of_thread("support", &thread), 50, None).await;
    let ids = page.ids();
    assert_eq!((&ids[..2], &ids[3..]), (&said[..], &later[..]));
    let boundary = &page.items[2];
    assert_eq!(boundary["role"], "SYSTEM");
    assert_eq!(boundary["content"].to_string(), r#"{"parts":[]}"#);
    assert_eq!(
        (&boundary["text"], &boundary["inContext"]),
        (&"".into(), &false.into())
    );
    assert!(boundary["turnId"].is_null() && boundary["tokens"].is_null());
    let thread = server.thread(&key, "messageCount lastMessageAt").await;
    assert_eq!(thread["messageCount"], 4);
    assert_eq!(thread["lastMessageAt"], page.items[3]["createdAt"]);
}
