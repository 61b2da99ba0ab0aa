//! Somebody who reads a thread while others attack.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::task::JoinHandle;

use crate::support::{Client, Key, List};

/// Long enough for a machine that does other things too.
const PATIENCE: Duration = Duration::from_secs(5);

pub struct Innocent {
    stop: Arc<AtomicBool>,
    reading: JoinHandle<usize>,
}

impl Innocent {
    /// Writes a thread and begins to read it, over and over.
    pub async fn beside(client: &Client) -> Self {
        let key = Key::new("innocent", "api", "reader");
        client.say_many(&key, 30).await;
        let list = List::of_thread("innocent", &client.thread_id(&key).await);
        let expected = client.page(&list, 20, None).await;
        assert_eq!(expected.items.len(), 20);
        let stop = Arc::new(AtomicBool::new(false));
        // A connection that was kept may be closed for its age just when it is used again.
        let (stopped, client) = (Arc::clone(&stop), client.keeping_no_connection());
        let reading = tokio::spawn(async move {
            let mut answers = 0;
            while !stopped.load(Ordering::Relaxed) || answers == 0 {
                let page = tokio::time::timeout(PATIENCE, client.page(&list, 20, None));
                let page = page.await.expect("an answer for somebody innocent");
                assert_eq!(page.items, expected.items);
                let page = tokio::time::timeout(PATIENCE, client.rest_page(&list, 20, None));
                let page = page.await.expect("an answer for somebody innocent");
                assert_eq!(page.ids(), expected.ids());
                answers += 2;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            answers
        });
        Self { stop, reading }
    }

    /// How many answers were right; fails when one was not.
    pub async fn stays_well(self) -> usize {
        self.stop.store(true, Ordering::Relaxed);
        self.reading.await.unwrap()
    }
}
