//! The playground, carried by the binary: nothing of it comes from another host.

use axum::{
    extract::{Path, rejection::PathRejection},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use rust_embed::{EmbeddedFile, RustEmbed};

use super::refusal::Refusal;

#[derive(RustEmbed)]
#[folder = "web/graphiql/assets"]
struct Graphiql;

/// What the page may load: its own files, and pictures and fonts written out in its styles.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// `GET /graphiql`: the playground.
pub(super) async fn graphiql(headers: HeaderMap) -> Response {
    answer("index.html", &headers)
}

/// `GET /graphiql/{file}`: a file of the playground.
pub(super) async fn file(path: Result<Path<String>, PathRejection>, headers: HeaderMap) -> Response {
    // A name that is not UTF-8 is none of ours.
    answer(path.as_deref().map_or("", |name| name), &headers)
}

/// The playground as the answer to a browser's GET of the endpoint, which answers other clients otherwise.
pub(super) fn playground(headers: &HeaderMap) -> Response {
    let mut response = answer("index.html", headers);
    response
        .headers_mut()
        .insert(header::VARY, HeaderValue::from_static("accept"));
    response
}

fn answer(name: &str, headers: &HeaderMap) -> Response {
    let Some(file) = Graphiql::get(name) else {
        return Refusal::not_found("the file").problem();
    };
    let tag = tag(&file);
    let known = headers
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .filter_map(|tags| tags.to_str().ok());
    let known = known
        .flat_map(|tags| tags.split(','))
        .any(|known| known.trim() == tag);
    let headers = [
        (
            header::ETAG,
            HeaderValue::try_from(tag).expect("hexadecimal digits in quotes"),
        ),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (header::CONTENT_TYPE, HeaderValue::from_static(media_type(name))),
    ];
    if known {
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    (headers, file.data).into_response()
}

/// The entity tag: half of the content's SHA-256.
fn tag(file: &EmbeddedFile) -> String {
    let hash = file.metadata.sha256_hash();
    let digits: String = hash[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("\"{digits}\"")
}

fn media_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        _ => "text/plain; charset=utf-8",
    }
}
