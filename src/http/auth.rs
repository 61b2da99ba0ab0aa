//! Who is asking: a bearer token (RFC 6750) says whom a request speaks for.

mod claims;
mod jwks;
mod keys;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use anyhow::Result;
use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    middleware::Next,
    response::Response,
};

use self::jwks::Jwks;
pub use self::keys::{Grant, Keys, Principal, Refused, mint};
use super::{App, refusal::Refusal};
use crate::chat::{clock::Clock, error::ErrorCode, scope::Scope};

/// How a server tells who is asking.
#[derive(Clone)]
pub enum Auth {
    /// It does not: whoever reaches it may do everything in the team `default`.
    Open,
    /// By their tokens.
    Tokens(Arc<Tokens>),
}

/// What tokens are checked with.
pub struct Tokens {
    keys: Source,
    clock: Clock,
}

enum Source {
    Secret(Arc<Keys>),
    Jwks(Box<Jwks>),
}

/// Whom the request speaks for, as its handler is told.
#[derive(Clone, Debug)]
pub(super) struct Viewer {
    /// What it may see and do.
    pub(super) scope: Scope,
    /// Whose rate it counts against; nobody's without auth.
    pub(super) principal: Option<Principal>,
}

impl Auth {
    /// Tokens signed with this secret, with a key of this JWKS (a file's path or an http(s) URL), or either; open
    /// with neither.
    ///
    /// # Errors
    /// When the JWKS cannot be read.
    pub async fn new(secret: Option<&str>, jwks: Option<&str>, clock: Clock) -> Result<Self> {
        let fixed = secret.map_or_else(Keys::default, |secret| Keys::default().with_secret(secret));
        let keys = match jwks {
            None if secret.is_none() => return Ok(Self::Open),
            None => Source::Secret(Arc::new(fixed)),
            Some(source) => Source::Jwks(Box::new(Jwks::open(source, fixed).await?)),
        };
        Ok(Self::Tokens(Arc::new(Tokens { keys, clock })))
    }

    /// Whether anybody may do everything.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        matches!(self, Self::Open)
    }

    /// Keeps the keys up to date, for ever.
    pub async fn keep_fresh(self) {
        if let Self::Tokens(tokens) = &self
            && let Source::Jwks(jwks) = &tokens.keys
        {
            jwks.keep_fresh().await;
        }
    }

    async fn viewer(&self, headers: &HeaderMap) -> Option<Viewer> {
        match self {
            Self::Open => Some(Viewer {
                scope: Scope::local(),
                principal: None,
            }),
            Self::Tokens(tokens) => {
                let Grant { scope, principal } = tokens.check(bearer(headers)?).await?;
                let principal = Some(principal);
                Some(Viewer { scope, principal })
            }
        }
    }
}

impl Tokens {
    /// Whom a token lets in, if it is one of ours.
    async fn check(&self, token: &str) -> Option<Grant> {
        let now = self.clock.now();
        let checked = match &self.keys {
            Source::Secret(keys) => keys.check(token, now),
            Source::Jwks(jwks) => match jwks.current().check(token, now) {
                Err(Refused::UnknownKey) => {
                    jwks.look_again().await;
                    jwks.current().check(token, now)
                }
                checked => checked,
            },
        };
        checked
            .inspect_err(|reason| tracing::debug!(%reason, "a token was refused"))
            .ok()
    }
}

/// The token of the one `Authorization` header.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (value, None) = (values.next()?, values.next()) else {
        return None;
    };
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then(|| token.trim_start_matches(' '))
}

/// Lets a request through that says whom it speaks for; its body has not been read yet.
pub(super) async fn require(State(app): State<App>, mut request: Request, next: Next) -> Response {
    match app.auth.viewer(request.headers()).await {
        Some(viewer) => {
            request.extensions_mut().insert(viewer);
            next.run(request).await
        }
        None => unauthenticated(request.uri().path()),
    }
}

/// One answer, whatever is wrong with the token: who probes learns nothing.
fn unauthenticated(path: &str) -> Response {
    metrics::counter!("threadline_unauthenticated_total").increment(1);
    let message = "a valid token is needed: send it as `Authorization: Bearer …`";
    let refusal = Refusal::new(StatusCode::UNAUTHORIZED, ErrorCode::Unauthenticated, message);
    let mut response = refusal.at(path);
    response
        .headers_mut()
        .insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
}
