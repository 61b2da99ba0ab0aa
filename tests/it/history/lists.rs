//! The agent's messages, the agent's threads, and their order.

use crate::support::list::oldest_first;
use crate::support::{Database, Key, List, TestServer, on_both};

on_both! {
    an_agents_messages_are_those_of_all_its_threads_in_the_order_of_commits,
    threads_are_ordered_by_when_they_began_or_by_their_newest_message,
    threads_can_be_filtered_by_channel_and_person,
    a_full_last_page_after_a_filter_says_so,
    the_view_context_is_the_messages_that_are_in_context,
}

async fn an_agents_messages_are_those_of_all_its_threads_in_the_order_of_commits(db: &Database) {
    let server = TestServer::start(db).await;
    let mut said = Vec::new();
    for turn in 0..10 {
        let key = Key::new("support", ["api", "widget"][turn % 2], &format!("p{}", turn % 3));
        said.extend(server.say(&key, &format!("t{turn}"), &["a", "b"]).await);
        server
            .say(
                &Key::new("sales", "api", "p0"),
                &format!("t{turn}"),
                &["not here"],
            )
            .await;
    }
    let pages = server.walk(&List::of_agent("support"), 7).await;
    let read: Vec<String> = pages.iter().rev().flat_map(|page| page.ids()).collect();
    assert_eq!(read, said);
}

async fn threads_are_ordered_by_when_they_began_or_by_their_newest_message(db: &Database) {
    let server = TestServer::start(db).await;
    for person in ["a", "b", "c", "d"] {
        server.say(&Key::of(person), "t", &["hello"]).await;
    }
    server.say(&Key::of("b"), "u", &["again"]).await;
    let people = async |arguments: &str| {
        let pages = server.walk(&List::threads_by("support", arguments), 2).await;
        let items = oldest_first(&pages);
        items
            .iter()
            .map(|item| item["personId"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(people("orderBy: CREATED").await, ["a", "b", "c", "d"]);
    assert_eq!(people("orderBy: ACTIVITY").await, ["a", "c", "d", "b"]);
    assert_eq!(
        server.page(&List::threads("support"), 50, None).await.items[0]["personId"],
        "a"
    );
    let thread = server.thread_id(&Key::of("c")).await;
    server.reset(&thread).await.data("/resetThread");
    assert_eq!(people("orderBy: ACTIVITY").await, ["a", "d", "b", "c"]);
}

async fn threads_can_be_filtered_by_channel_and_person(db: &Database) {
    let server = TestServer::start(db).await;
    for (channel, person) in [
        ("api", "a"),
        ("widget", "a"),
        ("widget", "b"),
        ("api", "b"),
        ("telegram", "a"),
    ] {
        server
            .say(&Key::new("support", channel, person), "t", &["hello"])
            .await;
    }
    let found = async |arguments: &str| {
        let pages = server.walk(&List::threads_by("support", arguments), 1).await;
        let items = oldest_first(&pages);
        let name = |item: &serde_json::Value| {
            format!(
                "{}/{}",
                item["channel"].as_str().unwrap(),
                item["personId"].as_str().unwrap()
            )
        };
        items.iter().map(name).collect::<Vec<_>>()
    };
    for order in ["CREATED", "ACTIVITY"] {
        let found = async |filter: &str| found(&format!("orderBy: {order}, {filter}")).await;
        assert_eq!(found("channel: \"widget\"").await, ["widget/a", "widget/b"]);
        assert_eq!(
            found("personId: \"a\"").await,
            ["api/a", "widget/a", "telegram/a"]
        );
        assert_eq!(found("channel: \"api\", personId: \"b\"").await, ["api/b"]);
        assert_eq!(found("channel: \"phone\"").await, [""; 0]);
    }
}

async fn a_full_last_page_after_a_filter_says_so(db: &Database) {
    let server = TestServer::start(db).await;
    for n in 0..9 {
        let channel = ["api", "widget", "telegram"][n % 3];
        server
            .say(&Key::new("support", channel, &format!("p{n}")), "t", &["hello"])
            .await;
    }
    let page = server
        .page(&List::threads_by("support", "channel: \"api\""), 3, None)
        .await;
    assert_eq!((page.items.len(), page.has_more), (3, false));
}

async fn the_view_context_is_the_messages_that_are_in_context(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    server.say(&key, "t", &["old", "older"]).await;
    let thread = server.thread_id(&key).await;
    server.reset(&thread).await.data("/resetThread");
    let given = server.say(&key, "u", &["new", "newer", "newest"]).await;
    let full = server.page(&List::of_thread("support", &thread), 50, None).await;
    let in_context: Vec<_> = full
        .items
        .iter()
        .filter(|item| item["inContext"] == true)
        .map(|item| item["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(in_context, given);
    let pages = server.walk(&List::context_of("support", &thread), 2).await;
    assert_eq!(
        pages.iter().map(|page| page.items.len()).collect::<Vec<_>>(),
        [2, 1]
    );
    assert_eq!(
        pages.iter().rev().flat_map(|page| page.ids()).collect::<Vec<_>>(),
        given
    );
    // A full last page, with older rows that are not in the view.
    let whole = server.page(&List::context_of("support", &thread), 3, None).await;
    assert_eq!((whole.items.len(), whole.has_more), (3, false));
}
