//! Many writers at once.

use std::collections::{BTreeSet, HashSet};

use futures::future::join_all;

use crate::support::client::ids;
use crate::support::list::oldest_first;
use crate::support::{Client, Database, Key, List, Process, TestServer, Turn, on_both};

/// The turn ids of a thread's messages in reading order, each run of one turn named once.
async fn turns_in_order(client: &Client, key: &Key) -> Vec<String> {
    let list = List::of_thread(&key.agent, &client.thread_id(key).await);
    let items = oldest_first(&client.walk(&list, 37).await);
    let mut turns: Vec<String> = items
        .iter()
        .map(|item| item["turnId"].as_str().unwrap().to_owned())
        .collect();
    turns.dedup();
    turns
}

on_both! {
    two_hundred_and_five_messages_in_one_instant_keep_their_order,
    turns_written_at_once_are_never_parted,
    ids_are_in_the_order_of_the_answers,
    fifty_first_messages_at_once_through_two_processes_make_one_thread,
}

async fn two_hundred_and_five_messages_in_one_instant_keep_their_order(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    let mut stored = Vec::new();
    for (turn, count) in [100, 100, 5].into_iter().enumerate() {
        let texts: Vec<String> = (0..count).map(|n| format!("{turn}.{n}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        stored.extend(server.say(&key, &format!("t{turn}"), &texts).await);
    }
    assert!(stored.is_sorted() && stored.iter().collect::<HashSet<_>>().len() == 205);
    let thread = server.thread_id(&key).await;
    for limit in [1, 41, 50, 200] {
        let pages = server.walk(&List::of_thread("support", &thread), limit).await;
        let expected = stored.len().div_ceil(usize::try_from(limit).unwrap());
        assert_eq!(pages.len(), expected, "pages of {limit}");
        let read: Vec<String> = pages.iter().rev().flat_map(|page| page.ids()).collect();
        assert_eq!(read, stored, "pages of {limit}");
    }
}

async fn turns_written_at_once_are_never_parted(db: &Database) {
    let [server, _] = Process::pair(db).await;
    let key = Key::of("p");
    let turns: Vec<Turn> = (0..40)
        .map(|n| Turn::of_texts(&format!("t{n}"), &["a", "b", "c", "d", "e"]))
        .collect();
    let payloads = join_all(turns.iter().map(|turn| server.append(&key, turn))).await;
    assert!(payloads.iter().all(|payload| payload["replayed"] == false));
    let turns = turns_in_order(&server, &key).await;
    assert_eq!(turns.len(), 40, "each turn is one run of messages: {turns:?}");
    assert_eq!(turns.iter().collect::<BTreeSet<_>>().len(), 40);
}

async fn ids_are_in_the_order_of_the_answers(db: &Database) {
    let server = TestServer::start(db).await;
    let mut last = String::new();
    for n in 0..50 {
        let ids = server.say(&Key::of("p"), &format!("t{n}"), &["a", "b"]).await;
        assert!(ids[0] > last && ids[1] > ids[0]);
        last.clone_from(&ids[1]);
    }
}

async fn fifty_first_messages_at_once_through_two_processes_make_one_thread(db: &Database) {
    let servers = Process::pair(db).await;
    for round in 0..5 {
        let key = Key::of(&format!("p{round}"));
        let turns: Vec<Turn> = (0..50)
            .map(|n| Turn::of_texts(&format!("t{n}"), &["hello"]))
            .collect();
        let writes = turns
            .iter()
            .enumerate()
            .map(|(n, turn)| servers[n % 2].append(&key, turn));
        let payloads = join_all(writes).await;
        let threads: HashSet<_> = payloads
            .iter()
            .map(|payload| payload["thread"]["id"].to_string())
            .collect();
        assert_eq!(threads.len(), 1, "round {round}");
        let messages: HashSet<_> = payloads
            .iter()
            .flat_map(|payload| ids(&payload["messages"]))
            .collect();
        assert_eq!(messages.len(), 50, "round {round}");
        assert_eq!(servers[0].thread(&key, "messageCount").await["messageCount"], 50);
        assert_eq!(turns_in_order(&servers[1], &key).await.len(), 50);
    }
    let threads = servers[0].walk(&List::threads("support"), 200).await;
    assert_eq!(threads.iter().map(|page| page.items.len()).sum::<usize>(), 5);
}
