//! How often a principal may ask: a leaky bucket (GCRA) for each.

use std::{num::NonZeroU32, sync::Arc, time::Duration};

use axum::{
    extract::{Extension, Request, State},
    http::StatusCode,
    middleware::Next,
    response::Response,
};
use governor::{
    DefaultKeyedRateLimiter, NotUntil, Quota, RateLimiter,
    clock::{Clock, DefaultClock},
};

use super::{
    App,
    auth::{Principal, Viewer},
    guard::Limits,
    refusal::Refusal,
};
use crate::chat::error::ErrorCode;

/// How often those who have not asked for a while are forgotten.
const FORGET: Duration = Duration::from_secs(60);

/// The rates of every principal: one for people, one for programs.
#[derive(Clone)]
pub struct Rates(Arc<Limiters>);

struct Limiters {
    people: DefaultKeyedRateLimiter<Principal>,
    programs: DefaultKeyedRateLimiter<Principal>,
    clock: DefaultClock,
}

impl Rates {
    /// Rates by the limits, with nobody known yet.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        let quota = |rate: NonZeroU32, burst| Quota::per_second(rate).allow_burst(burst);
        Self(Arc::new(Limiters {
            people: RateLimiter::keyed(quota(limits.person_rate, limits.person_burst)),
            programs: RateLimiter::keyed(quota(limits.agent_rate, limits.agent_burst)),
            clock: DefaultClock::default(),
        }))
    }

    /// Forgets those who have not asked for a while, for ever.
    pub async fn forget_the_idle(self) {
        loop {
            tokio::time::sleep(FORGET).await;
            for limiter in [&self.0.people, &self.0.programs] {
                limiter.retain_recent();
                limiter.shrink_to_fit();
            }
        }
    }

    /// Counts `times` requests of a viewer, all of them or none.
    pub(super) fn take(&self, viewer: &Viewer, times: u32) -> Result<(), Refusal> {
        let (Some(principal), Some(times)) = (&viewer.principal, NonZeroU32::new(times)) else {
            return Ok(());
        };
        let limiter = if viewer.scope.role().is_program() {
            &self.0.programs
        } else {
            &self.0.people
        };
        match limiter.check_key_n(principal, times) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(wait)) => Err(self.refuse(viewer, &wait)),
            Err(_more_than_a_burst) => Err(Refusal::new(
                StatusCode::TOO_MANY_REQUESTS,
                ErrorCode::RateLimited,
                "the request has more fields at its root than the rate lets through at once; send them apart",
            )),
        }
    }

    fn refuse(&self, viewer: &Viewer, wait: &NotUntil<<DefaultClock as Clock>::Instant>) -> Refusal {
        metrics::counter!("threadline_rate_limited_total", "role" => viewer.scope.role().as_str())
            .increment(1);
        let wait = wait.wait_time_from(self.0.clock.now());
        Refusal::too_many(wait.as_secs().saturating_add(1))
    }
}

/// Counts a request against its viewer, whom `auth` has found.
pub(super) async fn limit(
    State(app): State<App>,
    Extension(viewer): Extension<Viewer>,
    request: Request,
    next: Next,
) -> Response {
    match app.rates.take(&viewer, 1) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.at(request.uri().path()),
    }
}
