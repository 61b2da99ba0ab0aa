//! Log lines, to standard error.

use std::io;

use serde::Deserialize;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::{filter::Targets, layer::SubscriberExt, util::SubscriberInitExt};

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// What is logged, and how it looks.
#[derive(Clone, Debug)]
pub struct Log {
    /// How it looks.
    pub format: LogFormat,
    /// What is logged.
    pub filter: Targets,
}

/// Reads a filter: a level for everything, and levels for parts after it, as in `info,sea_orm=debug`.
#[must_use]
pub fn parse_filter(text: &str) -> Option<Targets> {
    let mut parts = text.split(',').map(str::trim);
    let everything = parse_level(parts.next()?)?;
    // A part without a level would read as "everything of it", which nobody means who misspells a level.
    let named = parts.map(|part| {
        let (target, level) = part.split_once('=')?;
        Some((target.to_owned(), parse_level(level)?))
    });
    let targets = Targets::new().with_default(everything);
    named
        .collect::<Option<Vec<_>>>()
        .map(|named| targets.with_targets(named))
}

fn parse_level(text: &str) -> Option<LevelFilter> {
    // An empty text would read as a level.
    Some(text).filter(|text| !text.is_empty())?.parse().ok()
}

/// Begins to log; whoever comes first decides how.
pub fn init(log: &Log) {
    let registry = tracing_subscriber::registry().with(log.filter.clone());
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr);
    let begun = match log.format {
        LogFormat::Text => {
            let colours = io::IsTerminal::is_terminal(&io::stderr());
            registry.with(lines.with_ansi(colours)).try_init()
        }
        LogFormat::Json => registry.with(lines.json()).try_init(),
    };
    if begun.is_err() {
        tracing::debug!("logging has begun before");
    }
}

#[cfg(test)]
mod tests {
    use super::parse_filter;

    #[test]
    fn a_filter_is_a_level_and_levels_of_parts() {
        for good in [
            "info",
            "off",
            "WARN",
            "info,sea_orm=debug",
            "warn, threadline::http=trace",
        ] {
            assert!(parse_filter(good).is_some(), "{good}");
        }
        for wrong in [
            "",
            "verbose",
            "sea_orm=debug",
            "info,sea_orm",
            "info,sea_orm=loud",
        ] {
            assert!(parse_filter(wrong).is_none(), "{wrong}");
        }
    }
}
