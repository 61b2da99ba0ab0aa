//! `threadline serve`

use std::{net::SocketAddr, time::Duration};

use anyhow::{Context, Result};
use tempfile::TempDir;
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    task::JoinSet,
};

use super::{admin, demo, open, open_files, settings::Settings};
use crate::{
    chat::{clock::Clock, gateway::Gateway},
    config::{Config, ConfigError},
    http::{self, auth::Auth, rate::Rates},
};

/// How often the store is asked to do what has to be done from time to time.
const MAINTENANCE: Duration = Duration::from_secs(60 * 60);

/// Serve GraphQL, REST and GraphiQL over HTTP (the default command)
///
/// Brings the database's tables up to date first. SIGTERM and Ctrl-C let the requests that have begun finish.
#[derive(Debug, Default, clap::Args)]
pub(super) struct Args {
    /// Serve sample threads from a scratch SQLite file, which is gone afterwards; never the configured database
    #[arg(long)]
    demo: bool,
}

/// Without auth everybody who reaches the port may do everything: only this machine may.
pub(super) fn refuse_remote(config: &Config, settings: &Settings) -> Result<(), ConfigError> {
    if settings.has_auth() || settings.listen.ip().is_loopback() {
        return Ok(());
    }
    Err(config.wrong(
        "listen",
        "without auth it has to be a loopback address (127.0.0.1 or [::1]); set auth.secret or auth.jwks to serve others",
    ))
}

/// Without auth a page that may read answers may do everything.
pub(super) fn refuse_every_page(config: &Config, settings: &Settings) -> Result<(), ConfigError> {
    if settings.has_auth() || !settings.surface.origins.is_every() {
        return Ok(());
    }
    Err(config.wrong(
        "cors.origins",
        "without auth every page on the web could read and write every chat: list the origins, or set auth.secret or auth.jwks",
    ))
}

pub(super) async fn run(mut settings: Settings, args: Args) -> Result<()> {
    open_files::allow(settings.http.connections);
    let listener = TcpListener::bind(settings.listen).await.with_context(|| {
        format!(
            "cannot listen on {}; choose another address with --listen, like 127.0.0.1:8081",
            settings.listen
        )
    })?;
    let address = listener.local_addr().context("the listener has no address")?;
    let admin = admin::start(settings.admin, &settings.http).await?;
    let clock = Clock::default();
    let scratch = args.demo.then(Scratch::new).transpose()?;
    if let Some(scratch) = &scratch {
        settings.database.url = scratch.url();
    }
    let gateway = open::gateway(&settings, &clock).await?;
    if scratch.is_some() {
        demo::fill(&gateway, &clock, &demo::Args::small()).await?;
    }
    let auth = auth(&settings, clock).await?;
    let rates = Rates::new(&settings.http);
    let mut chores = JoinSet::new();
    chores.spawn(maintain(gateway.clone()));
    chores.spawn(auth.clone().keep_fresh());
    chores.spawn(rates.clone().forget_the_idle());
    tracing::info!(%address, "serving");
    if scratch.is_some() {
        println!(
            "{}",
            welcome(address, settings.surface.graphiql, settings.has_auth())
        );
    }
    let limits = settings.http;
    let router = http::router(http::App {
        gateway,
        schema: settings.surface.schema(),
        auth,
        rates,
        limits: limits.clone(),
        surface: settings.surface,
    });
    http::serve::serve(listener, router, limits, asked_to_stop()?).await;
    chores.shutdown().await;
    // Until now, so that the end can be watched.
    drop(admin);
    tracing::info!("stopped");
    Ok(())
}

/// How the server tells who is asking.
async fn auth(settings: &Settings, clock: Clock) -> Result<Auth> {
    let auth = Auth::new(
        settings.auth_secret.as_deref(),
        settings.auth_jwks.as_deref(),
        clock,
    )
    .await
    .context("the keys of auth.jwks cannot be read")?;
    if auth.is_open() {
        tracing::warn!("there is no auth: every request acts as role ADMIN of the team \"default\"");
    }
    Ok(auth)
}

/// Keeps the store in order, now and every hour, for ever.
async fn maintain(gateway: Gateway) {
    let mut timer = tokio::time::interval(MAINTENANCE);
    loop {
        timer.tick().await;
        if let Err(error) = gateway.maintain().await {
            let error = anyhow::Error::from(error);
            tracing::warn!(
                error = format!("{error:#}"),
                "maintenance failed; the next is in an hour"
            );
        }
    }
}

/// Resolves at SIGTERM or Ctrl-C.
fn asked_to_stop() -> Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate()).context("signals cannot be heard")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("signals cannot be heard")?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("stopping: waiting for the requests that have begun");
    })
}

/// A database that is gone when the server is.
struct Scratch(TempDir);

impl Scratch {
    fn new() -> Result<Self> {
        let folder = TempDir::with_prefix("threadline-demo-").context("no scratch folder can be made")?;
        Ok(Self(folder))
    }

    fn url(&self) -> String {
        // What a URL would read otherwise.
        let path = self.0.path().display().to_string();
        let path = path.replace('%', "%25").replace('?', "%3F").replace('#', "%23");
        format!("sqlite://{path}/demo.db?mode=rwc")
    }
}

fn welcome(address: SocketAddr, graphiql: bool, has_auth: bool) -> String {
    let graphiql = match graphiql {
        true => {
            format!("\n  GraphiQL   http://{address}/graphiql (opens with a query: press its play button)")
        }
        false => String::new(),
    };
    let token = match has_auth {
        true => " \\\n    -H \"authorization: Bearer $(threadline token --role dashboard)\"",
        false => "",
    };
    format!(
        r#"
Threadline is running with sample threads, in a scratch database that is gone afterwards.
{graphiql}
  GraphQL    http://{address}/graphql
  REST       http://{address}/agents/support/chat/messages?limit=5

In another terminal:

  curl -s http://{address}/graphql{token} -H 'content-type: application/json' -d '{{"query":
    "{{ agent(id: \"support\") {{ threads(limit: 2) {{ items {{ personId messages(limit: 3) {{ items {{ role text }} }} }} }} }} }}"}}'

Ctrl-C stops it. Without --demo it serves the configured database and keeps what is written.
"#
    )
}
