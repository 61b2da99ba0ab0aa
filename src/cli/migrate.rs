//! `threadline migrate`

use anyhow::Result;

use super::{open, settings::Settings};
use crate::chat::clock::Clock;

pub(super) async fn run(settings: &Settings) -> Result<()> {
    open::store(&settings.database, &Clock::default()).await?;
    eprintln!("the database's tables are up to date");
    Ok(())
}
