//! Which spans and lines a layer sees.

use tracing::{Metadata, level_filters::LevelFilter, subscriber::Interest};
use tracing_subscriber::layer::{Context, Filter};

/// Lets through what is wanted, which is nothing above a level.
///
/// It is asked each time. Where an answer is kept, tracing-subscriber takes the last answer to another question for
/// it: sqlx asks whether its statements are logged, and the next span or line was lost
/// (<https://github.com/tokio-rs/tracing/issues/2519>).
pub(super) struct Only<W> {
    pub level: LevelFilter,
    pub wanted: W,
}

impl<S, W: Fn(&Metadata<'_>) -> bool> Filter<S> for Only<W> {
    fn enabled(&self, what: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        (self.wanted)(what)
    }

    fn callsite_enabled(&self, what: &'static Metadata<'static>) -> Interest {
        if (self.wanted)(what) {
            Interest::sometimes()
        } else {
            Interest::never()
        }
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.level)
    }
}
