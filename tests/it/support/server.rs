//! A server inside the test.

use std::ops::Deref;

use threadline::chat::clock::Clock;
use threadline::chat::gateway::Gateway;
use threadline::http::auth::Auth;
use threadline::http::guard::Limits;
use threadline::http::rate::Rates;
use threadline::http::{App, Surface, router, serve};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::{Client, Database, issuer};

/// A server over a test's database, on a free port of the loopback, until it is dropped.
pub struct TestServer {
    client: Client,
    serving: JoinHandle<()>,
}

impl TestServer {
    pub async fn start(database: &Database) -> Self {
        Self::start_over(database.gateway().await).await
    }

    /// A server over this door.
    pub async fn start_over(gateway: Gateway) -> Self {
        let open = Auth::new(None, None, Clock::default()).await.unwrap();
        Self::start_with(gateway, open, Limits::default()).await
    }

    /// A server that takes tokens signed with the issuer's secret.
    pub async fn start_with_auth(gateway: Gateway) -> Self {
        let auth = Auth::new(Some(issuer::SECRET), None, Clock::default()).await;
        Self::start_with(gateway, auth.unwrap(), Limits::default()).await
    }

    /// A server without auth that shows only this much.
    pub async fn start_showing(database: &Database, surface: Surface) -> Self {
        let open = Auth::new(None, None, Clock::default()).await.unwrap();
        Self::run(database.gateway().await, open, Limits::default(), surface).await
    }

    pub async fn start_with(gateway: Gateway, auth: Auth, limits: Limits) -> Self {
        Self::run(gateway, auth, limits, Surface::default()).await
    }

    async fn run(gateway: Gateway, auth: Auth, limits: Limits, surface: Surface) -> Self {
        let app = App {
            gateway,
            schema: surface.schema(),
            auth,
            rates: Rates::new(&limits),
            limits,
            surface,
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let limits = app.limits.clone();
        let serving = tokio::spawn(serve::serve(
            listener,
            router(app),
            limits,
            std::future::pending(),
        ));
        Self {
            client: Client::new(base),
            serving,
        }
    }
}

impl Deref for TestServer {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
