//! Where public keys come from, and how they are kept up to date.

use std::{
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};
use tokio::{sync::Mutex, time::Instant};

use super::keys::Keys;

/// How often the keys are read anew.
const EVERY: Duration = Duration::from_secs(5 * 60);
/// How soon a token with an unknown key may have them read again: whoever sends made up ones must not turn this
/// server against the issuer.
const AT_MOST_EVERY: Duration = Duration::from_secs(5);
/// How long reading them may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// No issuer has so many keys.
const MOST_BYTES: usize = 1 << 20;

/// Keys that change.
pub(super) struct Jwks {
    source: Source,
    /// What does not change: the secret, when there is one too.
    fixed: Keys,
    current: RwLock<Arc<Keys>>,
    /// When they were last read; held while they are.
    read: Mutex<Instant>,
}

enum Source {
    File(String),
    Url(reqwest::Client, reqwest::Url),
}

impl Jwks {
    /// Reads a JWKS, which has to be there, from a file or an http(s) URL.
    pub(super) async fn open(source: &str, fixed: Keys) -> Result<Self> {
        let source = Source::new(source)?;
        let keys = source.keys(&fixed).await?;
        Ok(Self {
            source,
            fixed,
            current: RwLock::new(Arc::new(keys)),
            read: Mutex::new(Instant::now()),
        })
    }

    /// The keys as they were last read.
    pub(super) fn current(&self) -> Arc<Keys> {
        self.current
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Reads the keys again, unless that was done a moment ago. Those that were read last stay when it fails.
    pub(super) async fn look_again(&self) {
        let mut read = self.read.lock().await;
        if read.elapsed() < AT_MOST_EVERY {
            return;
        }
        match self.source.keys(&self.fixed).await {
            Ok(keys) => *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(keys),
            Err(error) => tracing::warn!(
                error = format!("{error:#}"),
                "the keys of auth.jwks cannot be read; those read last stay"
            ),
        }
        *read = Instant::now();
    }

    /// Reads the keys from time to time, for ever.
    pub(super) async fn keep_fresh(&self) {
        loop {
            tokio::time::sleep(EVERY).await;
            self.look_again().await;
        }
    }
}

impl Source {
    fn new(text: &str) -> Result<Self> {
        if !text.starts_with("http://") && !text.starts_with("https://") {
            return Ok(Self::File(text.to_owned()));
        }
        let client = reqwest::Client::builder()
            .timeout(PATIENCE)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .context("no HTTP client can be made")?;
        Ok(Self::Url(client, text.parse().context("this is no URL")?))
    }

    async fn keys(&self, fixed: &Keys) -> Result<Keys> {
        let text = match self {
            Self::File(path) => tokio::fs::read(path)
                .await
                .with_context(|| format!("{path} cannot be read"))?,
            Self::Url(client, url) => fetch(client, url.clone()).await?,
        };
        fixed.clone().with_jwks(&text).map_err(anyhow::Error::msg)
    }
}

async fn fetch(client: &reqwest::Client, url: reqwest::Url) -> Result<Vec<u8>> {
    // The URL may hold a password: the error must not show it.
    let answer = client
        .get(url)
        .send()
        .await
        .map_err(reqwest::Error::without_url)?;
    let status = answer.status();
    if !status.is_success() {
        bail!("its server answered {status}");
    }
    let mut answer = answer;
    let mut text = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(reqwest::Error::without_url)? {
        ensure!(
            text.len() + chunk.len() <= MOST_BYTES,
            "it has more than {MOST_BYTES} bytes"
        );
        text.extend_from_slice(&chunk);
    }
    Ok(text)
}
