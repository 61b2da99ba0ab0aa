//! What can be seen of a request from outside: its id, its span, its line in the log, and that it is counted.

use std::{fmt, time::Instant};

use axum::{
    extract::{MatchedPath, Request},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode},
    middleware::Next,
    response::Response,
};
use metrics::{counter, gauge, histogram};
use opentelemetry::{global, propagation::Extractor};
use tracing::{Instrument, Span, field::Empty};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use uuid::Uuid;

use crate::chat::error::ErrorCode;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The longest request id that is taken over from a client.
const MAX_REQUEST_ID: usize = 64;

/// The GraphQL operation that an answer is of, kept with the answer: `query agent`.
#[derive(Clone)]
pub(super) struct Operation(pub(super) String);

/// The code of an answer that refuses, kept with the answer.
#[derive(Clone)]
pub(super) struct Code(pub(super) String);

impl From<ErrorCode> for Code {
    fn from(code: ErrorCode) -> Self {
        Self(code.as_str().to_owned())
    }
}

/// Gives the request an id that its answer carries, its spans have and its log lines show, and counts it.
pub(super) async fn observe(request: Request, next: Next) -> Response {
    let id = request_id(request.headers());
    let route = Route::of(&request);
    let span = tracing::info_span!(
        "request",
        otel.name = %route,
        otel.kind = "server",
        otel.status_code = Empty,
        http.request.method = route.method,
        http.route = route.path,
        http.response.status_code = Empty,
        request_id = id,
        operation = Empty,
        code = Empty,
    );
    // Fails when nobody traces.
    let _ = span.set_parent(global::get_text_map_propagator(|from| {
        from.extract(&Headers(request.headers()))
    }));
    let mut seen = Seen::begin(route, span.clone());
    let mut response = async move {
        let response = next.run(request).await;
        seen.answered(&response);
        response
    }
    .instrument(span)
    .await;
    if let Ok(id) = HeaderValue::try_from(id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

/// The client's own id when it is fit to be logged, else a new one.
fn request_id(headers: &HeaderMap) -> String {
    let given = headers.get(REQUEST_ID).and_then(|id| id.to_str().ok());
    let fit = |id: &&str| {
        (1..=MAX_REQUEST_ID).contains(&id.len())
            && id
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
    };
    given
        .filter(fit)
        .map_or_else(|| Uuid::now_v7().simple().to_string(), str::to_owned)
}

/// The method and the pattern of the path, without what stands in its places.
struct Route {
    method: &'static str,
    path: String,
}

impl Route {
    fn of(request: &Request) -> Self {
        let path = request.extensions().get::<MatchedPath>();
        Self {
            method: match *request.method() {
                Method::GET => "GET",
                Method::HEAD => "HEAD",
                Method::POST => "POST",
                Method::PUT => "PUT",
                Method::PATCH => "PATCH",
                Method::DELETE => "DELETE",
                Method::OPTIONS => "OPTIONS",
                _ => "OTHER",
            },
            path: path.map_or("unknown", MatchedPath::as_str).to_owned(),
        }
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}

/// A request that is counted once, however it ends: a client that goes away drops it unanswered.
struct Seen {
    route: Route,
    span: Span,
    began: Instant,
    answered: bool,
}

impl Seen {
    fn begin(route: Route, span: Span) -> Self {
        gauge!("threadline_requests_in_progress").increment(1);
        Self {
            route,
            span,
            began: Instant::now(),
            answered: false,
        }
    }

    fn answered(&mut self, response: &Response) {
        self.answered = true;
        let operation = response.extensions().get::<Operation>();
        let operation = operation.map_or_else(|| self.route.to_string(), |Operation(name)| name.clone());
        let status = response.status();
        let code = match response.extensions().get::<Code>() {
            Some(Code(code)) => code.as_str(),
            None if status.as_u16() < 400 => "OK",
            None => status.as_str(),
        };
        self.tell(&operation, code, Some(status));
    }

    fn tell(&self, operation: &str, code: &str, status: Option<StatusCode>) {
        let took = self.began.elapsed();
        counter!("threadline_requests_total", "operation" => operation.to_owned(), "code" => code.to_owned())
            .increment(1);
        histogram!("threadline_request_duration_seconds", "operation" => operation.to_owned()).record(took);
        let status = status.map(|status| status.as_u16());
        self.span.record("operation", operation).record("code", code);
        if let Some(status) = status {
            self.span.record("http.response.status_code", status);
            if status >= 500 {
                self.span.record("otel.status_code", "ERROR");
            }
        }
        let Route { method, path } = &self.route;
        let duration_ms = took.as_secs_f64() * 1e3;
        if status.is_some_and(|status| status >= 500) {
            tracing::warn!(
                method,
                route = path,
                operation,
                status,
                code,
                duration_ms,
                "answered"
            );
        } else {
            tracing::debug!(
                method,
                route = path,
                operation,
                status,
                code,
                duration_ms,
                "answered"
            );
        }
    }
}

impl Drop for Seen {
    fn drop(&mut self) {
        gauge!("threadline_requests_in_progress").decrement(1);
        if !self.answered {
            self.tell(&self.route.to_string(), "CLIENT_GONE", None);
        }
    }
}

/// The headers as OpenTelemetry reads them.
struct Headers<'a>(&'a HeaderMap);

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(HeaderName::as_str).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clients_request_id_is_kept_only_when_it_can_be_logged() {
        let id_of = |given: &[u8]| {
            let given = HeaderValue::from_bytes(given).unwrap();
            request_id(&HeaderMap::from_iter([(REQUEST_ID, given)]))
        };
        for kept in ["a", "A.b_c-9", &"x".repeat(64)] {
            assert_eq!(id_of(kept.as_bytes()), kept);
        }
        for made in ["", " a b", "a\"b", "{}", "é", &"x".repeat(65)] {
            let id = id_of(made.as_bytes());
            assert!(id.len() == 32 && id.parse::<Uuid>().is_ok(), "{made:?} → {id}");
        }
        assert_ne!(request_id(&HeaderMap::new()), request_id(&HeaderMap::new()));
    }
}
