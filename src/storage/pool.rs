//! Connections to one database, and the units of work that they do.

use std::{future::Future, sync::Arc, time::Duration};

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

/// A pool that is thrown away, with every connection that is idle in it, when one of them turns out to be broken or
/// mute: what broke one has most often broken all, and a connection that does not answer cannot be asked anything,
/// not even to roll back. Whoever is at work goes on with the connection it has.
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
            Ok(Err(Failure::Database(error))) => Err(error::from_db(error)),
            Ok(Err(Failure::NoPartition(_))) => {
                Err(Inconsistency("a partition that was made is missing").into())
            }
            Err(panic) => Err(Error::Internal(Box::new(panic))),
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
        let mut unit = std::pin::pin!(work(db));
        let Some(silence) = self.silence.filter(|_| purpose != Purpose::Migrate) else {
            return unit.await;
        };
        loop {
            let heard_at = *last_heard.borrow();
            match tokio::time::timeout_at(heard_at + silence, &mut unit).await {
                Ok(Err(Failure::Database(error))) if error::is_broken(&error) => {
                    self.replace(number).await;
                    return Err(Failure::Database(error));
                }
                Ok(done) => return done,
                Err(_) if *last_heard.borrow() > heard_at => {}
                Err(_) => {
                    // First the pool is closed, then the unit is dropped: its connection does not come back.
                    self.replace(number).await;
                    return Err(Failure::Refused(Error::Unavailable(Box::new(Mute))));
                }
            }
        }
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
                tracing::warn!("a connection to the database broke or fell silent: connecting anew");
            }
            Err(error) => tracing::error!(%error, "no new pool can be made"),
        }
    }
}

/// The database did not answer.
#[derive(Debug, thiserror::Error)]
#[error("the database fell silent in the middle of a unit of work; its connection is closed")]
struct Mute;
