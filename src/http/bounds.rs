//! What holds for every request: its body is bounded in size and time, its answer in time, and a panic is an answer.

use std::panic::AssertUnwindSafe;

use axum::{
    body::{Body, Bytes},
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, Version, header},
    middleware::Next,
    response::Response,
};
use futures::FutureExt;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Body as _;

use super::{guard::Limits, refusal::Refusal};
use crate::chat::error::ErrorCode;

/// A panic is an answer.
pub(super) async fn catch(request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    match AssertUnwindSafe(next.run(request)).catch_unwind().await {
        Ok(response) => response,
        // The panic itself is in the log already, with its place.
        Err(_panic) => Refusal::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            ErrorCode::InternalServerError,
            "internal error; nothing was written",
        )
        .at(&path),
    }
}

/// Kept with the answer to a request whose body was read to its end.
#[derive(Clone)]
struct BodyRead;

/// Says that the connection ends when a body was left unread on it, for it does: who keeps connections must not send
/// the next request on it.
pub(super) async fn say_when_unread(request: Request, next: Next) -> Response {
    let has_body = request.version() < Version::HTTP_2 && !request.body().is_end_stream();
    let mut response = next.run(request).await;
    if has_body && response.extensions().get::<BodyRead>().is_none() {
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(header::CONNECTION, close);
    }
    response
}

/// Reads the body, then runs the rest under the time limit.
pub(super) async fn bound(State(limits): State<Limits>, request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    answer(&limits, request, next)
        .await
        .unwrap_or_else(|refusal| refusal.at(&path))
}

async fn answer(limits: &Limits, request: Request, next: Next) -> Result<Response, Refusal> {
    let (head, body) = request.into_parts();
    refuse_encoding(&head.headers)?;
    let body = read(limits, &head.headers, body).await?;
    let run = next.run(Request::from_parts(head, Body::from(body)));
    let answered = tokio::time::timeout(limits.request_timeout, run).await;
    let mut response = answered.map_err(|_elapsed| {
        Refusal::new(
            StatusCode::SERVICE_UNAVAILABLE,
            ErrorCode::ServiceUnavailable,
            "the answer took too long; try again later",
        )
    })?;
    response.extensions_mut().insert(BodyRead);
    Ok(response)
}

/// A body has one length and is sent as it is: two lengths are how requests are smuggled past a proxy, and a
/// compressed body could be a bomb.
fn refuse_encoding(headers: &HeaderMap) -> Result<(), Refusal> {
    let mut encodings = headers.get_all(header::CONTENT_ENCODING).iter();
    if encodings.all(|encoding| encoding.as_bytes() == b"identity") {
        return Ok(());
    }
    Err(Refusal::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ErrorCode::BadUserInput,
        "the body must not be compressed",
    ))
}

async fn read(limits: &Limits, headers: &HeaderMap, body: Body) -> Result<Bytes, Refusal> {
    let announced = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse().ok());
    if announced.is_some_and(|length: u64| length > limits.body_bytes as u64) {
        return Err(too_large(limits));
    }
    let whole = Limited::new(body, limits.body_bytes).collect();
    match tokio::time::timeout(limits.body_timeout, whole).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large(limits)),
        Ok(Err(_)) => Err(Refusal::bad_input("the body could not be read to its end")),
        Err(_elapsed) => Err(Refusal::new(
            StatusCode::REQUEST_TIMEOUT,
            ErrorCode::BadUserInput,
            "the body took too long to arrive",
        )),
    }
}

fn too_large(limits: &Limits) -> Refusal {
    let message = format!("a body has at most {} bytes", limits.body_bytes);
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, ErrorCode::BadUserInput, message)
}
