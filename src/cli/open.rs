//! From settings to the open door.

use std::sync::Arc;

use anyhow::{Context, Result, anyhow};

use super::settings::Settings;
use crate::{
    chat::{clock::Clock, error::Error, gateway::Gateway},
    storage::{DatabaseSettings, SqlStore},
};

/// Opens a database whose tables are up to date afterwards.
pub(super) async fn store(database: &DatabaseSettings, clock: &Clock) -> Result<SqlStore> {
    let store = SqlStore::open(database, clock.clone()).await.map_err(|error| {
        let cause = match error {
            // What a caller of the server is told, to try again later, helps nobody who starts it.
            Error::Unavailable(source) => source.to_string(),
            other => format!("{:#}", anyhow!(other)),
        };
        anyhow!(
            "the database cannot be opened: {cause}\n  {}",
            advice(&database.url)
        )
    })?;
    store
        .migrate()
        .await
        .context("the database's tables cannot be brought up to date")?;
    Ok(store)
}

/// What to look at when a database cannot be opened. Its URL may hold a password and is not shown.
fn advice(url: &str) -> &'static str {
    if url.starts_with("sqlite:") {
        "Is its folder there, and may it be written? `?mode=rwc` at the end of the URL makes a file that is not there. `threadline config` shows the URL."
    } else {
        "Is PostgreSQL running there, is there a database of that name, are user and password right? `threadline config` shows the URL."
    }
}

/// Opens the one door to a database.
pub(super) async fn gateway(settings: &Settings, clock: &Clock) -> Result<Gateway> {
    let store = store(&settings.database, clock).await?;
    Gateway::open(Arc::new(store), &settings.cursor_secrets, settings.gateway)
        .await
        .context("the database's cursor secret cannot be read")
}
