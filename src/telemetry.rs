//! What the server tells about itself: log lines, traces and metrics. None of it holds what people say, a token or a
//! cursor.

pub mod metrics;
mod panic;
#[cfg(target_os = "linux")]
mod process;
mod traces;

use std::io;

use serde::Deserialize;
use tracing::{Level, Metadata, level_filters::LevelFilter};
use tracing_subscriber::{
    Layer,
    filter::{FilterExt, Targets, filter_fn},
    layer::SubscriberExt,
    util::SubscriberInitExt,
};

pub use traces::{Traces, Tracing};

/// The target of the one span that log lines show: the request's, with its id.
const REQUEST: &str = "threadline::request";

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

/// Begins to tell: log lines, and the spans of `tracing` if any. Whoever comes first in a process decides how.
pub fn init(log: &Log, tracing: Option<&Tracing>) {
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr);
    let shown = log.filter.clone().and(filter_fn(may_be_shown));
    let lines = match log.format {
        LogFormat::Text => {
            let colours = io::IsTerminal::is_terminal(&io::stderr());
            lines.with_ansi(colours).with_filter(shown).boxed()
        }
        LogFormat::Json => {
            let lines = lines.json().flatten_event(true).with_span_list(false);
            lines.with_filter(shown).boxed()
        }
    };
    let begun = tracing_subscriber::registry()
        .with(lines)
        .with(tracing.map(Tracing::layer))
        .try_init();
    match begun {
        Ok(()) => panic::tell_places(),
        Err(_) => tracing::debug!("logging has begun before"),
    }
}

/// Whether a line may be shown, whatever the level. The libraries below write at level trace what they send and
/// receive, and bind what is said to their spans.
fn may_be_shown(what: &Metadata<'_>) -> bool {
    if what.is_span() {
        return what.target() == REQUEST;
    }
    *what.level() < Level::TRACE || what.target().starts_with("threadline")
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
