//! Traces, sent to a collector by OTLP.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use metrics::counter;
use opentelemetry::{KeyValue, global, trace::TracerProvider};
use opentelemetry_otlp::{ExporterBuildError, Protocol, SpanExporter, WithExportConfig};
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    propagation::TraceContextPropagator,
    trace::{BatchSpanProcessor, Sampler, SdkTracerProvider, SpanData},
};
use tracing::{Level, Metadata, Subscriber, level_filters::LevelFilter};
use tracing_subscriber::{Layer, registry::LookupSpan};

use super::filter::Only;

/// How long the collector may take for a batch.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long the end of the process waits for the last spans to be taken.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(3);

/// Where traces go.
#[derive(Clone, Debug, PartialEq)]
pub struct Traces {
    /// The base URL of a collector that speaks OTLP over HTTP.
    pub endpoint: String,
    /// The part of the traces begun here that is kept; those begun elsewhere are kept as they say.
    pub sample: f64,
}

/// Spans on their way to a collector. Dropping it sends the last ones, and must not be done in an async task.
#[derive(Debug)]
pub struct Tracing(SdkTracerProvider);

impl Tracing {
    /// Begins to send spans, from a thread of its own that holds some thousand of them at the most: whatever the
    /// collector does, nobody waits for it.
    ///
    /// # Errors
    /// When there cannot be a client for the collector.
    pub fn begin(traces: &Traces) -> Result<Self, ExporterBuildError> {
        let exporter = SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(format!("{}/v1/traces", traces.endpoint.trim_end_matches('/')))
            .with_timeout(EXPORT_TIMEOUT)
            .build()?;
        let exporter = Counted {
            exporter,
            failing: AtomicBool::new(false),
        };
        let resource = Resource::builder()
            .with_service_name("threadline")
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
            .build();
        let ratio = Sampler::TraceIdRatioBased(traces.sample);
        let provider = SdkTracerProvider::builder()
            .with_resource(resource)
            .with_sampler(Sampler::ParentBased(Box::new(ratio)))
            .with_span_processor(BatchSpanProcessor::builder(exporter).build())
            .build();
        // Who calls with a `traceparent` finds these spans below their own.
        global::set_text_map_propagator(TraceContextPropagator::new());
        Ok(Self(provider))
    }

    pub(super) fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        tracing_opentelemetry::layer()
            .with_tracer(self.0.tracer("threadline"))
            .with_level(false)
            .with_location(false)
            .with_target(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_filter(Only {
                level: LevelFilter::INFO,
                wanted: is_traced,
            })
    }
}

impl Drop for Tracing {
    fn drop(&mut self) {
        if let Err(error) = self.0.shutdown_with_timeout(FLUSH_TIMEOUT) {
            tracing::warn!(%error, "the last spans were not taken by the collector of traces");
        }
    }
}

/// The spans of the server and of its SQL statements, without what is logged within them. SeaORM binds the values of
/// a statement to spans of level trace.
pub(super) fn is_traced(what: &Metadata<'_>) -> bool {
    let ours = ["threadline", "sea_orm"];
    what.is_span()
        && *what.level() <= Level::INFO
        && ours.iter().any(|target| what.target().starts_with(target))
}

/// Counts what the collector takes, and says once that it does not and once that it does again.
#[derive(Debug)]
struct Counted {
    exporter: SpanExporter,
    failing: AtomicBool,
}

impl opentelemetry_sdk::trace::SpanExporter for Counted {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = batch.len() as u64;
        let sent = self.exporter.export(batch).await;
        let result = if sent.is_ok() { "exported" } else { "lost" };
        counter!("threadline_spans_total", "result" => result).increment(spans);
        match (&sent, self.failing.swap(sent.is_err(), Ordering::Relaxed)) {
            (Err(error), false) => tracing::warn!(%error, "the collector of traces does not take spans"),
            (Ok(()), true) => tracing::info!("the collector of traces takes spans again"),
            _ => {}
        }
        // Told here; the caller would say it for each batch.
        Ok(())
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}
