//! What the gateway counts.

use metrics::counter;

use crate::chat::{
    error::{Error, Result},
    model::BoundaryReason,
    store::{Appended, Drawn},
};

/// Counts a turn that was handed in; `failed` says that it was handed in as one of which nothing is stored.
pub(super) fn turn(failed: bool, appended: Result<Appended>) -> Result<Appended> {
    let result = match &appended {
        Ok(appended) if appended.replayed => "replayed",
        Ok(_) if failed => "failed",
        Ok(_) => "stored",
        Err(Error::Unavailable(_) | Error::Internal(_)) => "error",
        Err(_) => "refused",
    };
    counter!("threadline_turns_total", "result" => result).increment(1);
    appended
}

/// Counts a boundary, if it was drawn.
pub(super) fn boundary(drawn: &Drawn) {
    let reason = match drawn.boundary.boundary.as_ref().map(|boundary| &boundary.reason) {
        Some(BoundaryReason::Compaction { .. }) => "compaction",
        _ => "reset",
    };
    counter!("threadline_boundaries_total", "reason" => reason).increment(drawn.drawn.into());
}

/// Counts pages that were read.
pub(super) fn pages(read: usize) {
    counter!("threadline_pages_total", "source" => "table").increment(read as u64);
}
