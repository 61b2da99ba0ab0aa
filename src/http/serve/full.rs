//! What a client is told that finds no place: a word, written at once and without reading its request.

use std::{sync::LazyLock, time::Duration};

use axum::http::StatusCode;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::{
    chat::error::ErrorCode,
    http::{headers, refusal::Refusal},
};

/// How many are told at a time; others are hung up on.
pub(super) const TOLD: usize = 256;

/// How long a client may take to say anything: one that is answered before it asks takes the answer for none.
const PATIENCE: Duration = Duration::from_secs(1);

static ANSWER: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let message = "the server has as many connections as it takes (limits.connections); try again later";
    let body = Refusal::new(
        StatusCode::SERVICE_UNAVAILABLE,
        ErrorCode::ServiceUnavailable,
        message,
    )
    .body();
    let mut answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/problem+json\r\ncontent-length: {}\r\n\
         retry-after: 1\r\nconnection: close\r\n",
        body.len()
    )
    .into_bytes();
    for (name, value) in headers::HEADERS.iter() {
        answer.extend_from_slice(name.as_str().as_bytes());
        answer.extend_from_slice(b": ");
        answer.extend_from_slice(value.as_bytes());
        answer.extend_from_slice(b"\r\n");
    }
    answer.extend_from_slice(b"\r\n");
    answer.extend_from_slice(body.as_bytes());
    answer
});

/// Tells a client to come back. One that breaks off knows already.
pub(super) async fn refuse(mut stream: impl AsyncRead + AsyncWrite + Unpin) {
    let _ = tokio::time::timeout(PATIENCE, stream.read(&mut [0; 1024])).await;
    let _ = stream.write_all(&ANSWER).await;
    let _ = stream.shutdown().await;
}
