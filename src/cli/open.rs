//! From settings to the open door.

use std::sync::Arc;

use anyhow::{Context, Result};

use super::settings::Settings;
use crate::{
    chat::{clock::Clock, gateway::Gateway},
    storage::{DatabaseSettings, SqlStore},
};

/// Opens a database whose tables are up to date afterwards.
pub(super) async fn store(database: &DatabaseSettings, clock: &Clock) -> Result<SqlStore> {
    let store = SqlStore::open(database, clock.clone())
        .await
        .context("the database cannot be opened; `threadline config` shows which one it is")?;
    store
        .migrate()
        .await
        .context("the database's tables cannot be brought up to date")?;
    Ok(store)
}

/// Opens the one door to a database.
pub(super) async fn gateway(settings: &Settings, clock: &Clock) -> Result<Gateway> {
    let store = store(&settings.database, clock).await?;
    Gateway::open(Arc::new(store), &settings.cursor_secrets, settings.gateway)
        .await
        .context("the database's cursor secret cannot be read")
}
