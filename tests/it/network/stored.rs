//! What is stored of what writers sent.

use std::collections::HashMap;

use crate::support::list::oldest_first;
use crate::support::{Client, Key, List};

/// How many messages every turn written here has.
pub const MESSAGES: usize = 3;

/// Reads threads back and fails unless each turn in them is whole and there once. Gives how many of these
/// acknowledged turns are not there.
pub async fn lost(client: &Client, acknowledged: &[(Key, String)], keys: &[Key]) -> usize {
    let mut stored = HashMap::new();
    for key in keys {
        if client.thread(key, "id").await.is_null() {
            continue;
        }
        let list = List::of_thread(&key.agent, &client.thread_id(key).await);
        let rows = oldest_first(&client.walk(&list, 200).await);
        let mut turns = rows
            .iter()
            .map(|row| row["turnId"].as_str())
            .collect::<Vec<_>>()
            .into_iter()
            .peekable();
        while let Some(turn) = turns.next() {
            let Some(turn) = turn else { continue };
            let mut size = 1;
            while turns.next_if_eq(&Some(turn)).is_some() {
                size += 1;
            }
            assert_eq!(size, MESSAGES, "{turn} of {key:?} is whole");
            let twice = stored.insert((key.person.clone(), turn.to_owned()), ());
            assert!(twice.is_none(), "{turn} of {key:?} is there once");
        }
        let count = client.thread(key, "messageCount").await["messageCount"].clone();
        assert_eq!(count, rows.len(), "the counter of {key:?}");
    }
    let is_lost = |(key, turn): &&(Key, String)| !stored.contains_key(&(key.person.clone(), turn.clone()));
    acknowledged.iter().filter(is_lost).count()
}
