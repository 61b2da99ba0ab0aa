//! What a panic tells.

use std::panic::{self, PanicHookInfo};

/// Logs each panic with its place. What it says is told only when it stands in the source as it is: anything put
/// together may hold what somebody said.
pub(super) fn tell_places() {
    panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, said = fixed_text(panic), "a panic");
    }));
}

fn fixed_text(panic: &PanicHookInfo<'_>) -> Option<&'static str> {
    panic.payload().downcast_ref::<&'static str>().copied()
}
