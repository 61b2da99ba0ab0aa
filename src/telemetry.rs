//! What the server tells about itself: log lines, traces and metrics. None of it holds what people say, a token or a
//! cursor.

mod filter;
pub mod metrics;
mod panic;
#[cfg(target_os = "linux")]
mod process;
mod spans;
mod traces;

use std::io;

use serde::Deserialize;
use tracing::{Level, Metadata, level_filters::LevelFilter};
use tracing_subscriber::{Layer, filter::Targets, layer::SubscriberExt, util::SubscriberInitExt};

use self::filter::Only;

pub use traces::{Traces, Tracing};

/// The span of a request, which has its id.
const REQUEST: &str = "request";

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
    // Lines show in which spans they were written: the traced ones if any, else the request's, which has the id.
    let spans = match tracing {
        Some(_) => traces::is_traced,
        None => is_request,
    };
    let levels = log.filter.clone();
    let shown = Only {
        level: most(&levels).max(LevelFilter::INFO),
        wanted: move |what: &Metadata<'_>| match what.is_span() {
            true => spans(what),
            false => may_be_shown(what) && levels.would_enable(what.target(), what.level()),
        },
    };
    let lines = match log.format {
        LogFormat::Text => {
            let colours = io::IsTerminal::is_terminal(&io::stderr());
            let lines = lines.with_ansi(colours).fmt_fields(spans::Text);
            lines.with_filter(shown).boxed()
        }
        LogFormat::Json => {
            let lines = lines.json().flatten_event(true).with_current_span(false);
            lines.fmt_fields(spans::Json).with_filter(shown).boxed()
        }
    };
    let registry = tracing_subscriber::registry().with(lines);
    // A layer that is there and does nothing would have every span be made.
    let begun = match tracing {
        Some(tracing) => registry.with(tracing.layer()).try_init(),
        None => registry.try_init(),
    };
    match begun {
        Ok(()) => panic::tell_places(),
        Err(_) => tracing::debug!("logging has begun before"),
    }
}

/// The most detailed level of any part.
fn most(levels: &Targets) -> LevelFilter {
    let parts = levels.iter().map(|(_, level)| level);
    parts
        .chain(levels.default_level())
        .max()
        .unwrap_or(LevelFilter::OFF)
}

/// Whether a line may be shown, whatever the level. The libraries below write at level trace what they send and
/// receive.
fn may_be_shown(what: &Metadata<'_>) -> bool {
    *what.level() < Level::TRACE || what.target().starts_with("threadline")
}

/// The one span that lines need.
fn is_request(what: &Metadata<'_>) -> bool {
    what.name() == REQUEST && what.target().starts_with("threadline")
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
