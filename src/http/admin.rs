//! What the admin listener answers: those who run the server, on an address of its own.

use axum::{
    Router,
    http::{Uri, header},
    middleware,
    response::IntoResponse,
    routing::get,
};
use tower::util::option_layer;

use super::{headers, host, no_such_method, refusal::Refusal};

/// The text format of Prometheus.
const METRICS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// `GET /metrics`, and nothing else.
/// On a loopback address it answers this machine only, as a server without auth does.
pub fn router(is_loopback: bool, metrics: impl Fn() -> String + Clone + Send + Sync + 'static) -> Router {
    let this_machine = is_loopback.then(|| middleware::from_fn(host::only_this));
    let metrics = async move || ([(header::CONTENT_TYPE, METRICS)], metrics()).into_response();
    Router::new()
        .route("/metrics", get(metrics))
        .fallback(async |uri: Uri| Refusal::not_found("the path").at(uri.path()))
        .method_not_allowed_fallback(no_such_method)
        .layer(option_layer(this_machine))
        .layer(middleware::from_fn(headers::secure))
}
