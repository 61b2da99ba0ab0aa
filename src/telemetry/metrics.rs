//! The metrics: every one there is, with its meaning. They are counted where things happen, by the macros of `metrics`.

use std::time::Duration;

use metrics::{counter, describe_counter, describe_gauge, describe_histogram, gauge};
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};

/// The upper bounds of the buckets that times are counted in, in seconds; an answer may take 15.
const TIMES: [f64; 14] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 15.0,
];

/// How often what was measured is put into its buckets when nobody asks.
const UPKEEP: Duration = Duration::from_secs(5);

/// A metric.
#[derive(Debug)]
pub struct Metric {
    /// Its name, with its unit.
    pub name: &'static str,
    /// How it moves.
    pub kind: Kind,
    /// What it says.
    pub meaning: &'static str,
    /// The values of its one label that are there from the start, for a series that appears with a 1 has no rise.
    values: Option<(&'static str, &'static [&'static str])>,
}

/// How a metric moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only up.
    Counter,
    /// Up and down.
    Gauge,
    /// A distribution.
    Histogram,
}

/// Every metric, in the order of what an operator looks at.
pub const METRICS: &[Metric] = &[
    counted(
        "threadline_requests_total",
        "Requests, by operation (the root field, or the route) and code (OK, a code of the schema, CLIENT_GONE).",
    ),
    timed(
        "threadline_request_duration_seconds",
        "How long requests took from their head to their answer, by operation.",
    ),
    level(
        "threadline_requests_in_progress",
        "Requests that are being answered.",
    ),
    level(
        "threadline_connections",
        "Open connections of clients, the scraper's included.",
    ),
    Metric {
        values: Some(("result", &["stored", "replayed", "failed", "refused", "error"])),
        ..counted(
            "threadline_turns_total",
            "Turns handed in: stored, replayed (stored before), failed (nothing to store), refused, or error (the database's, or ours).",
        )
    },
    Metric {
        values: Some(("reason", &["reset", "compaction"])),
        ..counted("threadline_boundaries_total", "Boundaries drawn, by reason.")
    },
    Metric {
        values: Some(("source", &["table"])),
        ..counted(
            "threadline_pages_total",
            "Pages read, by where their rows came from.",
        )
    },
    counted(
        "threadline_rate_limited_total",
        "Requests refused because their token asked too often, by role.",
    ),
    Metric {
        values: Some(("", &[])),
        ..counted(
            "threadline_unauthenticated_total",
            "Requests refused because their token was missing or bad.",
        )
    },
    timed(
        "threadline_pool_wait_seconds",
        "How long work waited for a connection to the database, by pool (read, write).",
    ),
    level(
        "threadline_pool_in_use",
        "Connections to the database that are at work, by pool.",
    ),
    level(
        "threadline_pool_waiting",
        "Work that is waiting for a connection to the database, by pool.",
    ),
    counted(
        "threadline_pool_refused_total",
        "Work refused because too much waited for a connection, or for too long, by pool.",
    ),
    Metric {
        values: Some(("result", &["exported", "lost"])),
        ..counted(
            "threadline_spans_total",
            "Spans handed to the collector of traces, or lost because it did not take them.",
        )
    },
    level("threadline_build_info", "1, with the version of the server."),
    level("process_resident_memory_bytes", "Memory that the process holds."),
    counted(
        "process_cpu_seconds_total",
        "Processor time that the process has used.",
    ),
    level("process_open_fds", "Open files and sockets of the process."),
    level("process_threads", "Threads of the process."),
    level(
        "process_start_time_seconds",
        "When the process began, in seconds since 1970.",
    ),
];

const fn counted(name: &'static str, meaning: &'static str) -> Metric {
    metric(name, Kind::Counter, meaning)
}

const fn level(name: &'static str, meaning: &'static str) -> Metric {
    metric(name, Kind::Gauge, meaning)
}

const fn timed(name: &'static str, meaning: &'static str) -> Metric {
    metric(name, Kind::Histogram, meaning)
}

const fn metric(name: &'static str, kind: Kind, meaning: &'static str) -> Metric {
    Metric {
        name,
        kind,
        meaning,
        values: None,
    }
}

/// What was counted until now. Without one, counting costs nothing.
#[derive(Clone, Debug)]
pub struct Metrics(PrometheusHandle);

impl Metrics {
    /// Begins to count, for the rest of the process.
    ///
    /// # Errors
    /// When somebody counts already.
    pub fn begin() -> Result<Self, BuildError> {
        let handle = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &TIMES)?
            .install_recorder()?;
        for metric in METRICS {
            metric.begin();
        }
        gauge!("threadline_build_info", "version" => env!("CARGO_PKG_VERSION")).set(1);
        Ok(Self(handle))
    }

    /// All of it, in the text format of Prometheus.
    #[must_use]
    pub fn render(&self) -> String {
        #[cfg(target_os = "linux")]
        if let Err(error) = super::process::record() {
            tracing::debug!(%error, "the kernel does not tell about the process");
        }
        self.0.render()
    }

    /// Keeps what is measured small while nobody asks for it; never ends.
    pub async fn keep(&self) {
        let mut timer = tokio::time::interval(UPKEEP);
        loop {
            timer.tick().await;
            self.0.run_upkeep();
        }
    }
}

impl Metric {
    fn begin(&self) {
        match self.kind {
            Kind::Counter => describe_counter!(self.name, self.meaning),
            Kind::Gauge => describe_gauge!(self.name, self.meaning),
            Kind::Histogram => describe_histogram!(self.name, self.meaning),
        }
        match self.values {
            None => {}
            Some((_, [])) => counter!(self.name).absolute(0),
            Some((label, values)) => {
                for value in values {
                    counter!(self.name, label => *value).absolute(0);
                }
            }
        }
    }
}
