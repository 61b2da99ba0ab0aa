//! Who may use the database now: as many units of work as there are connections, the next in the order they came,
//! and when too many wait already, nobody.

use std::{sync::Arc, time::Duration};

use metrics::Gauge;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Instant,
};

use crate::chat::error::Error;

/// How many may wait for each connection. A connection does some hundred units in the second or two that a caller
/// waits gladly; more than these would hold memory for an answer that comes too late.
const WAITING_FOR_EACH: u32 = 64;

/// What a unit of work does, and the label of its metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Read,
    Write,
    /// Writes, and waits for others that do the same for as long as that takes.
    Migrate,
}

impl Purpose {
    const fn label(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write | Self::Migrate => "write",
        }
    }
}

/// The queue in front of a pool of connections.
pub struct Admission {
    connections: Arc<Semaphore>,
    places: Semaphore,
    patience: Duration,
}

/// The right to use one connection, until it is dropped.
pub struct Admitted {
    _connection: OwnedSemaphorePermit,
    _in_use: Counted,
}

/// Why a unit of work did not begin.
#[derive(Debug, thiserror::Error)]
enum Refused {
    #[error("too many wait for a connection already")]
    Full,
    #[error("no connection became free in time")]
    Late,
}

impl Admission {
    /// `allowance` is how many connections the queue's length is reckoned by, which are more than there are where a
    /// single one does the work of many.
    pub fn new(connections: u32, allowance: u32, patience: Duration) -> Self {
        Self {
            connections: Arc::new(Semaphore::new(connections as usize)),
            places: Semaphore::new(allowance.saturating_mul(WAITING_FOR_EACH) as usize),
            patience,
        }
    }

    /// Waits for a connection to be free.
    ///
    /// # Errors
    /// [`Error::Unavailable`]: at once when too many wait, or when none became free in time.
    pub async fn admit(&self, purpose: Purpose) -> Result<Admitted, Error> {
        let pool = purpose.label();
        let came = Instant::now();
        let connection = match Arc::clone(&self.connections).try_acquire_owned() {
            Ok(free) => Ok(free),
            Err(_) => self.wait(pool).await,
        };
        let connection = connection.map_err(|refused| {
            metrics::counter!("threadline_pool_refused_total", "pool" => pool).increment(1);
            Error::Unavailable(Box::new(refused))
        })?;
        metrics::histogram!("threadline_pool_wait_seconds", "pool" => pool).record(came.elapsed());
        Ok(Admitted {
            _connection: connection,
            _in_use: Counted::new(metrics::gauge!("threadline_pool_in_use", "pool" => pool)),
        })
    }

    async fn wait(&self, pool: &'static str) -> Result<OwnedSemaphorePermit, Refused> {
        let _place = self.places.try_acquire().map_err(|_| Refused::Full)?;
        let _waiting = Counted::new(metrics::gauge!("threadline_pool_waiting", "pool" => pool));
        let next = Arc::clone(&self.connections).acquire_owned();
        let admitted = tokio::time::timeout(self.patience, next).await;
        admitted
            .map_err(|_| Refused::Late)
            .map(|permit| permit.expect("the queue is never closed"))
    }
}

/// One in a gauge, until it is dropped.
struct Counted(Gauge);

impl Counted {
    fn new(gauge: Gauge) -> Self {
        gauge.increment(1);
        Self(gauge)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.decrement(1);
    }
}

#[cfg(test)]
mod tests {
    use futures::future::join_all;

    use super::*;

    const PATIENCE: Duration = Duration::from_millis(200);

    #[tokio::test]
    async fn as_many_are_admitted_as_there_are_connections_and_the_next_when_one_goes() {
        let queue = Admission::new(2, 2, PATIENCE);
        let first = queue.admit(Purpose::Read).await.unwrap();
        let _second = queue.admit(Purpose::Write).await.unwrap();
        let came = Instant::now();
        assert!(queue.admit(Purpose::Read).await.is_err());
        assert!(came.elapsed() >= PATIENCE, "it waited before it gave up");
        drop(first);
        assert!(queue.admit(Purpose::Read).await.is_ok());
    }

    #[tokio::test]
    async fn who_comes_when_too_many_wait_is_refused_at_once() {
        let queue = Admission::new(1, 1, PATIENCE);
        let _busy = queue.admit(Purpose::Read).await.unwrap();
        let came = Instant::now();
        let all = join_all((0..100).map(|_| async {
            assert!(queue.admit(Purpose::Read).await.is_err());
            came.elapsed()
        }))
        .await;
        let at_once = all.iter().filter(|waited| **waited < PATIENCE).count();
        assert_eq!(at_once, 100 - WAITING_FOR_EACH as usize);
    }
}
