//! What one request may read: a document may ask for many pages, and they share bytes and the database.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tokio::sync::{Mutex, MutexGuard};

use super::Gateway;
use crate::chat::{
    error::{Error, Result},
    model::Message,
    page::Cut,
};

/// How many pages may be full of bytes in one request.
const FULL_PAGES: usize = 4;

/// What a request has left.
pub(super) struct Allowance {
    bytes: AtomicUsize,
    /// Lists that are not loaded together take turns, so that one request does not take every connection.
    turn: Mutex<()>,
}

impl Gateway {
    /// The same door for one request: whatever is read through it shares the bytes of a few full pages.
    #[must_use]
    pub fn for_request(&self) -> Self {
        let allowance = Allowance {
            bytes: AtomicUsize::new(self.most_bytes()),
            turn: Mutex::default(),
        };
        Self {
            allowance: Some(Arc::new(allowance)),
            ..self.clone()
        }
    }

    /// How many bytes may still be read, when it is not nothing.
    pub(super) fn bytes_left(&self) -> Result<usize> {
        let left = self
            .allowance
            .as_ref()
            .map(|allowance| allowance.bytes.load(Ordering::Relaxed));
        match left {
            None => Ok(self.most_bytes()),
            Some(0) => Err(Error::TooMuch(self.most_bytes())),
            Some(left) => Ok(left),
        }
    }

    /// Counts what was read.
    pub(super) fn spend(&self, cuts: &[Cut<Message>]) {
        let Some(allowance) = &self.allowance else {
            return;
        };
        let read = cuts
            .iter()
            .flat_map(Cut::rows)
            .map(|message| message.content.as_str().len())
            .sum();
        let less = |left: usize| Some(left.saturating_sub(read));
        // It never fails: there is always a value.
        let _ = allowance
            .bytes
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }

    /// Waits for the request's other lists.
    pub(super) async fn in_turn(&self) -> Option<MutexGuard<'_, ()>> {
        Some(self.allowance.as_ref()?.turn.lock().await)
    }

    const fn most_bytes(&self) -> usize {
        self.limits.page_bytes.saturating_mul(FULL_PAGES)
    }
}
