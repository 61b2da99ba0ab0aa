//! The answers that a connection still owes, and whether its client takes them.
//!
//! hyper ends an HTTP/1 connection that is idle, and a blocked socket ends itself (`impatient`). An HTTP/2 client is
//! neither: it keeps its connection by answering pings, and may leave an answer lying without blocking the socket.

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard},
    task::{Context, Poll, ready},
};

use axum::{
    body::{Body, Bytes},
    http::Response,
};
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::time::Instant;

use super::Limits;

/// The largest piece that an answer is handed out in: what is handed out cannot be watched any more.
const PIECE: usize = 64 << 10;

/// What is known of a connection's answers.
#[derive(Clone)]
pub(super) struct Answers(Arc<Mutex<State>>);

struct State {
    /// How many requests there were.
    begun: u64,
    /// The answers that have not been handed out wholly, and since when their last piece waits to be taken.
    open: HashMap<u64, Option<Instant>>,
    /// When the last answer ended.
    quiet_since: Instant,
}

/// What to do with a connection.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing before this time.
    Keep(Instant),
    /// Take no further request: it was idle for long.
    Retire,
    /// Close it at once.
    Close,
}

impl Answers {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(State {
            begun: 0,
            open: HashMap::new(),
            quiet_since: Instant::now(),
        })))
    }

    /// A request has come.
    pub(super) fn begin(&self) -> Answer {
        let mut state = self.state();
        state.begun += 1;
        let id = state.begun;
        state.open.insert(id, None);
        Answer {
            answers: self.clone(),
            id,
        }
    }

    /// What to do with the connection now; one that is retired already is not retired again.
    pub(super) fn judge(&self, limits: &Limits, retired: bool) -> Verdict {
        let (state, now) = (self.state(), Instant::now());
        if state.open.is_empty() {
            let idle = state.quiet_since + limits.header_timeout;
            let most = idle + limits.header_timeout;
            return match now {
                _ if now < idle => Verdict::Keep(idle),
                _ if state.begun == 0 || now >= most => Verdict::Close,
                _ if retired => Verdict::Keep(most),
                _ => Verdict::Retire,
            };
        }
        let stalled = state.open.values().flatten().min();
        match stalled.map(|since| *since + limits.body_timeout) {
            Some(until) if until <= now => Verdict::Close,
            Some(until) => Verdict::Keep(until),
            None => Verdict::Keep(now + limits.header_timeout.min(limits.body_timeout)),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("nothing panics while it holds the lock")
    }
}

/// An answer that is owed until this is dropped.
pub(super) struct Answer {
    answers: Answers,
    id: u64,
}

impl Answer {
    /// Watches how the answer is taken.
    pub(super) fn watch(self, response: Response<Body>) -> Response<Watched> {
        response.map(|body| Watched {
            body,
            rest: Bytes::new(),
            answer: self,
        })
    }

    fn waits(&self, since: Option<Instant>) {
        self.answers.state().open.insert(self.id, since);
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        let mut state = self.answers.state();
        state.open.remove(&self.id);
        state.quiet_since = Instant::now();
    }
}

/// A body in pieces. Whoever asks for the next piece has got rid of the one before.
pub(super) struct Watched {
    body: Body,
    rest: Bytes,
    answer: Answer,
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.answer.waits(None);
        if self.rest.is_empty() {
            let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
            match frame.map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(data))) => self.rest = data,
                Some(Ok(Err(trailers))) => return Poll::Ready(Some(Ok(trailers))),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
        let length = self.rest.len().min(PIECE);
        let piece = self.rest.split_to(length);
        self.answer.waits(Some(Instant::now()));
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.rest.len() as u64;
        match self.body.size_hint().exact() {
            Some(length) => SizeHint::with_exact(length + rest),
            None => SizeHint::default(),
        }
    }
}
