//! A collector of traces that speaks OTLP over HTTP.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use axum::{Router, body::Bytes, extract::State, routing::post};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

type Taken = Arc<Mutex<Vec<ExportTraceServiceRequest>>>;

/// Takes what is sent to it, until it is dropped.
pub struct Collector {
    endpoint: String,
    taken: Taken,
    serving: JoinHandle<()>,
}

impl Collector {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let taken = Taken::default();
        let router = Router::new()
            .route("/v1/traces", post(take))
            .with_state(Arc::clone(&taken));
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self {
            endpoint,
            taken,
            serving,
        }
    }

    /// The flag of a server that sends its traces here.
    pub fn flag(&self) -> String {
        format!("--otel-endpoint={}", self.endpoint)
    }

    /// Everything that was sent, as text.
    pub fn dump(&self) -> String {
        format!("{:?}", self.taken.lock().unwrap())
    }

    /// The attributes of the process that sent spans.
    pub fn resource(&self) -> HashMap<String, String> {
        let taken = self.taken.lock().unwrap();
        let spans = taken.first().and_then(|request| request.resource_spans.first());
        let resource = spans.and_then(|spans| spans.resource.as_ref());
        attributes(&resource.expect("something was sent").attributes)
    }

    /// The spans of a trace.
    pub fn spans(&self, trace_id: &str) -> Vec<Span> {
        let taken = self.taken.lock().unwrap();
        let spans = taken
            .iter()
            .flat_map(|request| &request.resource_spans)
            .flat_map(|of_resource| &of_resource.scope_spans)
            .flat_map(|of_scope| &of_scope.spans);
        spans
            .filter(|span| hex(&span.trace_id) == trace_id)
            .cloned()
            .collect()
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn take(State(taken): State<Taken>, body: Bytes) {
    let request = ExportTraceServiceRequest::decode(body).unwrap();
    taken.lock().unwrap().push(request);
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub fn attributes(pairs: &[KeyValue]) -> HashMap<String, String> {
    let text = |value: &Option<AnyValue>| match value.as_ref().and_then(|value| value.value.clone()) {
        Some(Value::StringValue(text)) => text,
        Some(Value::IntValue(number)) => number.to_string(),
        other => format!("{other:?}"),
    };
    pairs
        .iter()
        .map(|pair| (pair.key.clone(), text(&pair.value)))
        .collect()
}
