//! Walking back while others write.

use std::collections::HashSet;

use crate::support::{Database, Key, List, TestServer, on_both};

on_both! {
    every_row_that_was_there_at_the_start_comes_exactly_once,
}

async fn every_row_that_was_there_at_the_start_comes_exactly_once(db: &Database) {
    let server = TestServer::start(db).await;
    let keys = [Key::of("a"), Key::of("b")];
    let mut said = Vec::new();
    for turn in 0..30 {
        said.extend(
            server
                .say(&keys[turn % 2], &format!("t{turn}"), &["x", "y", "z"])
                .await,
        );
    }
    let thread = server.thread_id(&keys[0]).await;
    let in_thread = server
        .page(&List::of_thread("support", &thread), 200, None)
        .await
        .ids();

    let writer = server.clone();
    let stop = tokio::sync::watch::channel(false);
    let mut stopped = stop.1;
    let keys_to_write = keys.clone();
    let writing = tokio::spawn(async move {
        let mut written = 0;
        while !*stopped.borrow_and_update() {
            writer
                .say(
                    &keys_to_write[written % 2],
                    &format!("w{written}"),
                    &["new", "newer"],
                )
                .await;
            if written % 10 == 3 {
                let thread = writer.thread_id(&keys_to_write[0]).await;
                writer.reset(&thread).await.data("/resetThread");
            }
            written += 1;
        }
        written
    });
    for round in 0..6 {
        for (list, there) in [
            (List::of_agent("support"), &said),
            (List::of_thread("support", &thread), &in_thread),
        ] {
            let pages = server.walk(&list, 7 + round).await;
            let read: Vec<String> = pages.iter().rev().flat_map(|page| page.ids()).collect();
            assert!(read.is_sorted(), "one order: {list:?}");
            assert_eq!(
                read.iter().collect::<HashSet<_>>().len(),
                read.len(),
                "none twice: {list:?}"
            );
            let old: Vec<String> = read.into_iter().filter(|id| there.contains(id)).collect();
            assert_eq!(old, *there, "each once: {list:?}");
        }
    }
    stop.0.send(true).unwrap();
    assert!(writing.await.unwrap() > 10, "the writer wrote");
}
