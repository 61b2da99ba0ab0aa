//! An answer that has to be taken. An HTTP/2 client that opens no window for it and answers pings all the same would
//! have the server keep it for ever: nothing is written, so [`Impatient`](super::impatient::Impatient) sees nothing.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio::sync::Notify;
use tokio::task::AbortHandle;

/// How much is handed out at once. Whether somebody comes for the next piece shows whether the last was taken.
const PIECE: usize = 64 << 10;

/// A body in pieces that says when nobody comes for the next one.
pub(super) struct Taken {
    body: Body,
    rest: Bytes,
    patience: Duration,
    given_up: Arc<Notify>,
    waiting: Option<Waiting>,
}

impl Taken {
    /// `given_up` is told when a piece lies there for longer than `patience`.
    pub(super) fn new(body: Body, patience: Duration, given_up: Arc<Notify>) -> Self {
        Self {
            body,
            rest: Bytes::new(),
            patience,
            given_up,
            waiting: None,
        }
    }
}

impl HttpBody for Taken {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.waiting = None;
        if self.rest.is_empty() {
            match ready!(Pin::new(&mut self.body).poll_frame(cx)).map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(data))) => self.rest = data,
                Some(Ok(Err(trailers))) => return Poll::Ready(Some(Ok(trailers))),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
        let length = self.rest.len().min(PIECE);
        let piece = self.rest.split_to(length);
        if !self.rest.is_empty() {
            self.waiting = Some(Waiting::begin(self.patience, self.given_up.clone()));
        }
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (rest, body) = (self.rest.len() as u64, self.body.size_hint());
        let mut hint = SizeHint::new();
        hint.set_lower(body.lower() + rest);
        if let Some(upper) = body.upper() {
            hint.set_upper(upper + rest);
        }
        hint
    }
}

/// A wait that ends when it is dropped.
struct Waiting(AbortHandle);

impl Waiting {
    fn begin(patience: Duration, given_up: Arc<Notify>) -> Self {
        let waiting = tokio::spawn(async move {
            tokio::time::sleep(patience).await;
            given_up.notify_one();
        });
        Self(waiting.abort_handle())
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.abort();
    }
}
