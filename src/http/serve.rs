//! The accept loop: HTTP/1 and HTTP/2 on one listener, with nobody able to hold a connection by saying nothing,
//! and a stop that lets begun requests finish.

mod impatient;
mod taken;

use std::{convert::Infallible, future::Future, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    http::{Request, Version},
};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{conn::auto::Builder, graceful::GracefulShutdown},
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Notify,
    task::JoinSet,
};
use tower::ServiceExt;

use self::{impatient::Impatient, taken::Taken};
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
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    tokio::pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut shutdown => break,
        };
        // What is done need not be remembered.
        while connections.try_join_next().is_some() {}
        match accepted {
            Ok((stream, _peer)) => {
                let connection = Connection {
                    stream,
                    router: router.clone(),
                    limits: limits.clone(),
                };
                connections.spawn(connection.run(server.clone(), graceful.watcher()));
            }
            Err(error) => {
                // Most often too many open files: others have to close theirs first.
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
    drop(listener);
    if tokio::time::timeout(limits.drain_timeout, graceful.shutdown())
        .await
        .is_err()
    {
        tracing::warn!(
            connections = connections.len(),
            "the drain timeout passed: closing what is still open"
        );
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
    stream: TcpStream,
    router: Router,
    limits: Limits,
}

impl Connection {
    async fn run(self, server: Builder<TokioExecutor>, watcher: hyper_util::server::graceful::Watcher) {
        let Self {
            stream,
            router,
            limits,
        } = self;
        // Answers are written whole: waiting to fill a packet only delays them.
        let _ = stream.set_nodelay(true);
        let begun = Arc::new(Notify::new());
        let first = begun.clone();
        let given_up = Arc::new(Notify::new());
        let (patience, untaken) = (limits.body_timeout, given_up.clone());
        let service = service_fn(move |request: Request<Incoming>| {
            begun.notify_one();
            let shares_connection = request.version() == Version::HTTP_2;
            let untaken = untaken.clone();
            let answer = router.clone().oneshot(request.map(Body::new));
            async move {
                let answer = answer.await?;
                Ok::<_, Infallible>(if shares_connection {
                    answer.map(|body| Body::new(Taken::new(body, patience, untaken)))
                } else {
                    answer
                })
            }
        });
        let connection = server.serve_connection_with_upgrades(
            TokioIo::new(Impatient::new(stream, limits.body_timeout)),
            service,
        );
        let connection = watcher.watch(connection.into_owned());
        tokio::pin!(connection);
        // hyper's own timeout begins only when it knows which HTTP is spoken.
        tokio::select! {
            _ended = &mut connection => return,
            () = first.notified() => {}
            () = tokio::time::sleep(limits.header_timeout) => return,
        }
        tokio::select! {
            // A connection that breaks is the client's affair.
            _ended = connection => {}
            () = given_up.notified() => {}
        }
    }
}

#[cfg(test)]
mod tests;
