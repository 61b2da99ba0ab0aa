//! `threadline config`

use crate::config::Config;

/// Where the origins begin, so that they stand in a column.
const ORIGIN_COLUMN: usize = 64;

/// Every setting on a line of its own, as a file would have it.
pub(super) fn list(config: &Config) -> String {
    let lines = config.settings().iter().map(|setting| {
        let line = format!("{} = {}", setting.key.name, setting.shown());
        format!("{line:<ORIGIN_COLUMN$} # {}\n", setting.origin)
    });
    lines.collect()
}
