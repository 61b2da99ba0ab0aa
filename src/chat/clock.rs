//! The one place that asks for the time.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use chrono::{DateTime, SubsecRound, TimeDelta, Utc};

/// A clock that the tests can make lie: every time read in the server, the database's own included, passes
/// through [`Clock::adjust`].
#[derive(Clone, Debug, Default)]
pub struct Clock {
    offset_micros: Arc<AtomicI64>,
}

impl Clock {
    /// This process's time, to the microsecond.
    #[must_use]
    pub fn now(&self) -> DateTime<Utc> {
        #[expect(clippy::disallowed_methods, reason = "this is the clock")]
        self.adjust(Utc::now())
    }

    /// A time that was read elsewhere, as this clock tells it, cut to the microsecond.
    #[must_use]
    pub fn adjust(&self, time: DateTime<Utc>) -> DateTime<Utc> {
        time.trunc_subsecs(6) + TimeDelta::microseconds(self.offset_micros.load(Ordering::Relaxed))
    }

    /// Sets how far this clock runs ahead of the true time; negative for behind.
    pub fn run_ahead(&self, by: TimeDelta) {
        let micros = by.num_microseconds().unwrap_or_default();
        self.offset_micros.store(micros, Ordering::Relaxed);
    }
}
