//! Connections to one database, and the units of work that they do.

use std::{future::Future, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures::FutureExt;
use sea_orm::{ConnectOptions, Database, DatabaseConnection, DbErr};
use tokio::{
    sync::{RwLock, watch},
    time::Instant,
};

use super::{
    admission::{Admission, Purpose},
    error::{self, Inconsistency},
    write::Failure,
};
use crate::chat::error::{Error, Result};

/// A pool that is thrown away, with every connection that is idle in it, when one of them turns out to be broken, mute
/// or in a transaction that could not be ended: what broke one has most often broken all, and a connection that does
/// not answer cannot be asked anything, not even to roll back. Whoever is at work goes on with the connection it has.
pub struct Pool {
    admission: Admission,
    options: ConnectOptions,
    /// How long a database may be silent within a unit of work. A file never is.
    silence: Option<Duration>,
    current: RwLock<Generation>,
}

#[derive(Clone)]
struct Generation {
    db: DatabaseConnection,
    number: u64,
}

impl Pool {
    /// Connects, so that a database that is not there is told at once.
    pub async fn open(
        mut options: ConnectOptions,
        admission: Admission,
        silence: Option<Duration>,
    ) -> Result<Self, DbErr> {
        let db = Database::connect(options.clone()).await?;
        // Later generations connect when they are used.
        options.connect_lazy(true);
        Ok(Self {
            admission,
            options,
            silence,
            current: RwLock::new(Generation { db, number: 0 }),
        })
    }

    /// Runs a unit of work, which uses one connection at a time, when it is its turn.
    ///
    /// It runs in a task of its own, so that a request that is dropped cannot leave a transaction open: sqlx 0.9 loses
    /// track of a BEGIN whose future is dropped.
    pub async fn run<T, F>(
        self: &Arc<Self>,
        purpose: Purpose,
        work: impl FnOnce(DatabaseConnection) -> F + Send + 'static,
    ) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Failure>> + Send + 'static,
    {
        let admitted = self.admission.admit(purpose).await?;
        let pool = Arc::clone(self);
        let unit = tokio::spawn(async move {
            let _admitted = admitted;
            pool.listen(purpose, work).await
        });
        match unit.await {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(Failure::Refused(error))) => Err(error),
            Ok(Err(Failure::Database(error) | Failure::Unended(error))) => Err(error::from_db(error)),
            Ok(Err(Failure::NoPartition(_))) => {
                Err(Inconsistency("a partition that was made is missing").into())
            }
            Err(stopping) => Err(Error::Unavailable(Box::new(stopping))),
        }
    }

    /// Does the work as long as the database says something from time to time.
    async fn listen<T, F>(
        &self,
        purpose: Purpose,
        work: impl FnOnce(DatabaseConnection) -> F,
    ) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        let Generation { mut db, number } = self.current.read().await.clone();
        let (heard, last_heard) = watch::channel(Instant::now());
        db.set_metric_callback(move |_| {
            heard.send_replace(Instant::now());
        });
        let mut unit = std::pin::pin!(AssertUnwindSafe(work(db)).catch_unwind());
        let silence = self.silence.filter(|_| purpose != Purpose::Migrate);
        let (result, is_sound) = match unless_silent(&mut unit, &last_heard, silence).await {
            Some(Ok(result)) => {
                let failure = result.as_ref().err();
                let is_sound = failure.is_none_or(Failure::leaves_a_sound_connection);
                (result, is_sound)
            }
            // The panic itself is in the log already, with its place.
            Some(Err(_panic)) => (Err(Error::Internal(Box::new(Fate::Panic)).into()), false),
            None => (Err(Error::Unavailable(Box::new(Fate::Mute)).into()), false),
        };
        if !is_sound {
            // Before the unit is dropped: its connection finds its pool closed, and does not come back.
            self.replace(number).await;
        }
        result
    }

    /// Gives up a generation, unless that has been done already.
    async fn replace(&self, number: u64) {
        let mut current = self.current.write().await;
        if current.number != number {
            return;
        }
        match Database::connect(self.options.clone()).await {
            Ok(db) => {
                let old = std::mem::replace(
                    &mut *current,
                    Generation {
                        db,
                        number: number + 1,
                    },
                );
                // Polled once: it is closed from then on. To its end it would wait for everybody who is at work.
                let _ = old.db.close_by_ref().now_or_never();
                tracing::warn!("a connection to the database cannot be used any more: connecting anew");
            }
            Err(error) => tracing::error!(%error, "no new pool can be made"),
        }
    }
}

/// Waits for the end of a unit. None when the database fell silent first.
async fn unless_silent<T>(
    unit: &mut (impl Future<Output = T> + Unpin),
    last_heard: &watch::Receiver<Instant>,
    silence: Option<Duration>,
) -> Option<T> {
    let Some(silence) = silence else {
        return Some(unit.await);
    };
    loop {
        let heard_at = *last_heard.borrow();
        match tokio::time::timeout_at(heard_at + silence, &mut *unit).await {
            Ok(done) => return Some(done),
            Err(_) if *last_heard.borrow() > heard_at => {}
            Err(_) => return None,
        }
    }
}

/// Why a unit of work has no result.
#[derive(Debug, thiserror::Error)]
enum Fate {
    #[error("the database fell silent in the middle of a unit of work; its connection is closed")]
    Mute,
    #[error("a unit of work panicked; its connection is closed")]
    Panic,
}
