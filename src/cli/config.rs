//! `threadline config`

use std::io::{self, Write};

use anyhow::{Context, Result};

use crate::config::Config;

pub(super) fn run(config: &Config) -> Result<()> {
    let mut out = io::stdout().lock();
    for setting in config.settings() {
        let line = format!("{} = {}", setting.key.name, setting.shown());
        writeln!(out, "{line:<72} # {}", setting.origin).context("the settings cannot be printed")?;
    }
    Ok(())
}
