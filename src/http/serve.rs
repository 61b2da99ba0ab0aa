//! The accept loop: HTTP/1 and HTTP/2 on one listener, with nobody able to hold a connection by saying nothing,
//! and a stop that lets begun requests finish.

mod answers;
mod full;
mod impatient;

use std::{future::Future, sync::Arc, time::Duration};

use axum::{Router, body::Body, http::Request};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto::Builder,
};
use metrics::gauge;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
    task::JoinSet,
};
use tower::ServiceExt;

use self::{
    answers::{Answers, Verdict},
    impatient::Impatient,
};
use super::guard::Limits;

/// The most bytes of a request's head. A longer document goes by POST.
const HEAD_BYTES: usize = 64 * 1024;

/// Serves a router until `shutdown` resolves, then waits for the requests that have begun, at most the drain
/// timeout.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    limits: Limits,
    shutdown: impl Future<Output = ()>,
) {
    let server = builder(&limits);
    let mut crowd = Crowd::new(&limits);
    let mut connections = JoinSet::new();
    // Each connection holds a receiver, to hear of the end and to show that it still lives.
    let (stop, stopping) = watch::channel(());
    tokio::pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut shutdown => break,
        };
        // What is done need not be remembered.
        while connections.try_join_next().is_some() {}
        match accepted {
            Ok((stream, _peer)) => match crowd.place(stream) {
                Some(Placed::Served(stream)) => {
                    let connection = Connection {
                        stream,
                        router: router.clone(),
                        limits: limits.clone(),
                        stopping: stopping.clone(),
                    };
                    connections.spawn(connection.run(server.clone()));
                }
                Some(Placed::Told(stream)) => {
                    connections.spawn(full::refuse(stream));
                }
                None => {}
            },
            Err(error) => {
                // Most often too many open files: others have to close theirs first.
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
    drop((listener, stopping));
    let _ = stop.send(());
    if tokio::time::timeout(limits.drain_timeout, stop.closed())
        .await
        .is_err()
    {
        tracing::warn!(
            connections = connections.len(),
            "the drain timeout passed: closing what is still open"
        );
    }
}

/// The places there are.
struct Crowd {
    served: Arc<Semaphore>,
    told: Arc<Semaphore>,
    patience: Duration,
    full: bool,
}

/// A connection that got a place.
enum Placed {
    /// Among those that are served.
    Served(Impatient<TcpStream>),
    /// Among those that are told to come back.
    Told(Impatient<TcpStream>),
}

impl Crowd {
    fn new(limits: &Limits) -> Self {
        Self {
            served: Arc::new(Semaphore::new(limits.connections.min(Semaphore::MAX_PERMITS))),
            told: Arc::new(Semaphore::new(full::TOLD)),
            patience: limits.body_timeout,
            full: false,
        }
    }

    /// Finds a place; a connection that gets none is closed.
    fn place(&mut self, stream: TcpStream) -> Option<Placed> {
        // Answers are written whole: waiting to fill a packet only delays them.
        let _ = stream.set_nodelay(true);
        let was_full = self.full;
        let place = self.served.clone().try_acquire_owned();
        self.full = place.is_err();
        if let Ok(place) = place {
            return Some(Placed::Served(Impatient::new(stream, self.patience, place)));
        }
        if !was_full {
            tracing::warn!(
                "there are as many connections as limits.connections allows: one more was refused"
            );
        }
        let place = self.told.clone().try_acquire_owned().ok()?;
        Some(Placed::Told(Impatient::new(stream, self.patience, place)))
    }
}

fn builder(limits: &Limits) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_timeout)
        .max_buf_size(HEAD_BYTES);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(HEAD_BYTES as u32)
        .max_concurrent_streams(100)
        .keep_alive_interval(limits.header_timeout)
        .keep_alive_timeout(limits.header_timeout);
    builder
}

struct Connection {
    stream: Impatient<TcpStream>,
    router: Router,
    limits: Limits,
    stopping: watch::Receiver<()>,
}

impl Connection {
    /// Serves until either side ends it. A connection that breaks is the client's affair.
    async fn run(self, server: Builder<TokioExecutor>) {
        let Self {
            stream,
            router,
            limits,
            mut stopping,
        } = self;
        let _open = Open::new();
        let answers = Answers::new();
        let owed = answers.clone();
        let service = service_fn(move |request: Request<Incoming>| {
            let answer = owed.begin();
            let response = router.clone().oneshot(request.map(Body::new));
            async move { response.await.map(|response| answer.watch(response)) }
        });
        let connection = server
            .serve_connection_with_upgrades(TokioIo::new(stream), service)
            .into_owned();
        tokio::pin!(connection);
        let mut retired = false;
        loop {
            let until = match answers.judge(&limits, retired) {
                Verdict::Keep(until) => until,
                Verdict::Close => return,
                Verdict::Retire => {
                    retired = true;
                    connection.as_mut().graceful_shutdown();
                    continue;
                }
            };
            tokio::select! {
                // What has come already is read before the time is looked at: a busy machine must not lose a request.
                biased;
                _ended = &mut connection => return,
                _ = stopping.changed(), if !retired => {
                    retired = true;
                    connection.as_mut().graceful_shutdown();
                }
                () = tokio::time::sleep_until(until) => {}
            }
        }
    }
}

/// A connection that is counted while it is open.
struct Open;

impl Open {
    fn new() -> Self {
        gauge!("threadline_connections").increment(1);
        Self
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        gauge!("threadline_connections").decrement(1);
    }
}

#[cfg(test)]
mod tests;
