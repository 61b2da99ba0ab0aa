//! Loads what many items of a list ask for at once, so that a nested page costs a fixed number of statements.
//!
//! The items of a list are resolved by one task: all of them ask before the first is asked again. So the first one
//! steps back once and then loads for everybody. async-graphql's own loader waits a millisecond instead, which
//! every single read would pay for and a slow moment would split.

use std::{
    future::Future,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::oneshot;

use crate::chat::error::{Error, Result};

type Loaded<V> = Result<V, Arc<Error>>;

/// Keys that wait to be loaded together.
pub struct Batch<K, V>(Mutex<Vec<(K, oneshot::Sender<Loaded<V>>)>>);

impl<K, V> Default for Batch<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K, V> Batch<K, V> {
    /// The value of a key, loaded together with the other keys that are asked for meanwhile. `load` answers every
    /// key, in their order.
    ///
    /// # Errors
    /// What `load` failed with, for every key alike.
    pub async fn load<F>(&self, key: K, load: impl FnOnce(Vec<K>) -> F) -> Loaded<V>
    where
        F: Future<Output = Result<Vec<V>>>,
    {
        let (sender, receiver) = oneshot::channel();
        if self.wait(key, sender) {
            tokio::task::yield_now().await;
            let (keys, senders): (Vec<_>, Vec<_>) = self.take().into_iter().unzip();
            match load(keys).await {
                Ok(values) => {
                    for (sender, value) in senders.into_iter().zip(values) {
                        // One that was cancelled meanwhile does not want it any more.
                        let _ = sender.send(Ok(value));
                    }
                }
                Err(error) => {
                    let error = Arc::new(error);
                    for sender in senders {
                        let _ = sender.send(Err(Arc::clone(&error)));
                    }
                }
            }
        }
        receiver
            .await
            .unwrap_or_else(|gone| Err(Arc::new(Error::Internal(Box::new(gone)))))
    }

    /// Queues a key. True for the first one, which is to load.
    fn wait(&self, key: K, sender: oneshot::Sender<Loaded<V>>) -> bool {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.push((key, sender));
        waiting.len() == 1
    }

    fn take(&self) -> Vec<(K, oneshot::Sender<Loaded<V>>)> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_asked_for_together_is_loaded_at_once_and_in_its_place() {
        let batch: Batch<u32, u32> = Batch::default();
        let loads = std::sync::atomic::AtomicU32::new(0);
        let asked = (0..500).map(|key| {
            batch.load(key, async |keys| {
                loads.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                Ok(keys.into_iter().map(|key| key * 2).collect())
            })
        });
        let values: Vec<_> = futures::future::join_all(asked)
            .await
            .into_iter()
            .map(Result::unwrap)
            .collect();
        assert_eq!(values, (0..500).map(|key| key * 2).collect::<Vec<_>>());
        assert_eq!(loads.into_inner(), 1);
    }

    #[tokio::test]
    async fn a_failure_reaches_everybody() {
        let batch: Batch<u32, u32> = Batch::default();
        let asked = (0..3).map(|key| batch.load(key, async |_| Err(Error::NotFound("it"))));
        for result in futures::future::join_all(asked).await {
            assert!(matches!(*result.unwrap_err(), Error::NotFound("it")));
        }
    }
}
