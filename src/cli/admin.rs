//! The admin listener of `threadline serve`.

use anyhow::{Context, Result};
use tokio::{net::TcpListener, task::JoinSet};

use super::settings::Admin;
use crate::{
    http::{self, guard::Limits},
    telemetry::metrics::Metrics,
};

/// Begins to count and to answer `/metrics`, until what is returned is dropped. An address that nobody asked for may
/// be taken; one that was asked for may not.
pub(super) async fn start(admin: Option<Admin>, limits: &Limits) -> Result<JoinSet<()>> {
    let mut tasks = JoinSet::new();
    let Some(Admin { listen, is_default }) = admin else {
        return Ok(tasks);
    };
    let listener = match TcpListener::bind(listen).await {
        Ok(listener) => listener,
        Err(error) if is_default => {
            tracing::warn!(address = %listen, %error, "there are no metrics: choose an address with --admin-listen, or off");
            return Ok(tasks);
        }
        Err(error) => {
            let advice = format!(
                "cannot listen on {listen} for metrics; choose another address with --admin-listen, or off"
            );
            return Err(error).context(advice);
        }
    };
    let address = listener
        .local_addr()
        .context("the admin listener has no address")?;
    let metrics = Metrics::begin().context("the metrics cannot be counted")?;
    tracing::info!(%address, "metrics are at /metrics");
    let rendered = metrics.clone();
    let router = http::admin::router(address.ip().is_loopback(), move || rendered.render());
    tasks.spawn(http::serve::serve(
        listener,
        router,
        limits.clone(),
        std::future::pending(),
    ));
    tasks.spawn(async move { metrics.keep().await });
    Ok(tasks)
}
