//! What the admin listener answers: those who run the server, on an address of its own.

use axum::{
    Router,
    http::{Uri, header},
    middleware,
    response::IntoResponse,
    routing::get,
};

use super::{headers, no_such_method, refusal::Refusal};

/// The text format of Prometheus.
const METRICS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// `GET /metrics`, and nothing else.
pub fn router(metrics: impl Fn() -> String + Clone + Send + Sync + 'static) -> Router {
    let metrics = async move || ([(header::CONTENT_TYPE, METRICS)], metrics()).into_response();
    Router::new()
        .route("/metrics", get(metrics))
        .fallback(async |uri: Uri| Refusal::not_found("the path").at(uri.path()))
        .method_not_allowed_fallback(no_such_method)
        .layer(middleware::from_fn(headers::secure))
}
