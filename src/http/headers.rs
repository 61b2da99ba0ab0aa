//! What every answer tells browsers: not to guess, not to frame it, not to pass it on.
//!
//! `Strict-Transport-Security` is not among them: it holds for a whole host name and is for the proxy that speaks TLS.

use std::sync::LazyLock;

use axum::{
    extract::Request,
    http::{HeaderName, HeaderValue},
    middleware::Next,
    response::Response,
};

/// Names and values, as they are where the answer itself does not say otherwise.
const SECURITY: [(&str, &str); 8] = [
    ("cache-control", "no-store"),
    (
        "content-security-policy",
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("cross-origin-opener-policy", "same-origin"),
    // For what a page takes in without asking. Pages that ask are let in by `cors.origins`.
    ("cross-origin-resource-policy", "same-origin"),
    (
        "permissions-policy",
        "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    ),
    ("referrer-policy", "no-referrer"),
    ("x-content-type-options", "nosniff"),
    // For browsers that do not know frame-ancestors.
    ("x-frame-options", "DENY"),
];

/// The headers of every answer.
pub(super) static HEADERS: LazyLock<Vec<(HeaderName, HeaderValue)>> = LazyLock::new(|| {
    let header = |(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value));
    SECURITY.map(header).into()
});

/// Adds them to an answer, whoever gave it.
pub(super) async fn secure(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    for (name, value) in HEADERS.iter() {
        response
            .headers_mut()
            .entry(name)
            .or_insert_with(|| value.clone());
    }
    response
}
