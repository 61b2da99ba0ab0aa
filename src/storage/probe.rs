//! Whether the database can be read and written, asked of it seldom however often somebody asks us.

use std::{sync::Arc, time::Duration};

use tokio::{sync::Mutex, time::Instant};

use super::{
    admission::Purpose,
    pool::Pool,
    secrets,
    write::{self, Failure},
};
use crate::chat::error::{Error, Result};

/// How long an answer holds: a probe takes the lock that writers take.
const HOLDS: Duration = Duration::from_secs(1);

/// The last answer. Those who ask while the database is asked wait for that answer.
#[derive(Default)]
pub struct Probe(Mutex<Option<Answer>>);

struct Answer {
    at: Instant,
    was: Result<(), Arc<Error>>,
}

impl Probe {
    /// Fails unless the database can be written, or could be a moment ago.
    pub async fn ask(&self, pool: &Arc<Pool>) -> Result<()> {
        let mut last = self.0.lock().await;
        let answer = match last.take() {
            Some(answer) if answer.at.elapsed() < HOLDS => answer,
            _ => {
                let was = probe(pool).await.map_err(Arc::new);
                Answer {
                    at: Instant::now(),
                    was,
                }
            }
        };
        last.insert(answer)
            .was
            .clone()
            .map_err(|error| Error::Unavailable(Box::new(error)))
    }
}

async fn probe(pool: &Arc<Pool>) -> Result<()> {
    pool.run(Purpose::Write, |db| async move {
        let transaction = write::begin(&db).await?;
        match secrets::try_to_write(&transaction).await {
            Ok(()) => transaction.rollback().await.map_err(Failure::Unended),
            Err(error) => Err(write::undo(transaction, error.into()).await),
        }
    })
    .await
}
