//! Which pages of other sites may read the API: those whose origins are listed.

use std::time::Duration;

use axum::{
    extract::{Request, State},
    http::{HeaderName, HeaderValue, Method, header},
    middleware::Next,
    response::Response,
};
use tower::{Layer, ServiceExt};
use tower_http::cors::{AllowOrigin, CorsLayer};
use url::Url;

/// The origins whose pages may read answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins {
    listed: Vec<HeaderValue>,
    every: bool,
}

impl Origins {
    /// Reads a list with commas between its entries; `*` alone is every origin, and an empty list is none.
    ///
    /// # Errors
    /// What is wrong with which entry.
    pub fn read(list: &str) -> Result<Self, String> {
        let entries: Vec<&str> = list.split(',').map(str::trim).collect();
        match entries[..] {
            [""] => Ok(Self::default()),
            ["*"] => Ok(Self {
                every: true,
                listed: Vec::new(),
            }),
            _ => {
                let listed = entries.into_iter().map(origin).collect::<Result<_, _>>()?;
                Ok(Self { listed, every: false })
            }
        }
    }

    /// Whether every page on the web may read answers.
    #[must_use]
    pub fn is_every(&self) -> bool {
        self.every
    }

    /// What answers preflights and adds the headers; none when no origin may read.
    pub(super) fn layer(&self) -> Option<CorsLayer> {
        if !self.every && self.listed.is_empty() {
            return None;
        }
        let Self { listed, every } = self.clone();
        // `null` is what a sandboxed frame and a local file are called: anybody can be that.
        let allowed =
            move |origin: &HeaderValue, _: &_| origin != "null" && (every || listed.contains(origin));
        let request_id = HeaderName::from_static("x-request-id");
        let asks = [
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            request_id.clone(),
            HeaderName::from_static("traceparent"),
        ];
        let cors = CorsLayer::new()
            .allow_origin(AllowOrigin::predicate(allowed))
            .allow_methods([Method::GET, Method::POST])
            .allow_headers(asks)
            .expose_headers([request_id, header::RETRY_AFTER])
            .max_age(Duration::from_secs(2 * 60 * 60));
        Some(cors)
    }
}

/// Lets listed pages read the API. A preflight is answered here: it has no token, and it does nothing.
pub(super) async fn share(State(cors): State<CorsLayer>, request: Request, next: Next) -> Response {
    let asked_by_page = request.headers().contains_key(header::ORIGIN);
    let plain_options = request.method() == Method::OPTIONS && !asked_by_page;
    if !is_api(request.uri().path()) || plain_options {
        return next.run(request).await;
    }
    let Ok(response) = cors.layer(next).oneshot(request).await;
    response
}

fn is_api(path: &str) -> bool {
    path == "/graphql" || path.starts_with("/agents/")
}

/// An origin just as browsers send it, so that comparing is enough.
fn origin(entry: &str) -> Result<HeaderValue, String> {
    let url = Url::parse(entry).ok().filter(|_| !entry.contains('*'));
    let sent = url.and_then(|url| {
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        Some(format!("{}://{}{port}", url.scheme(), url.host_str()?))
    });
    match sent {
        Some(sent) if sent == entry => HeaderValue::try_from(sent).map_err(|error| error.to_string()),
        Some(sent) => Err(format!("write {entry:?} as {sent:?}")),
        None => Err(format!(
            "{entry:?} is no origin: each is like https://app.example.com or http://localhost:3000, with commas \
             between them, or * alone for every page on the web"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_listed_just_as_browsers_send_it() {
        for good in [
            "",
            "*",
            "https://app.example.com",
            "http://localhost:3000, https://[::1]:8443,https://xn--bcher-kva.example",
            "capacitor://localhost",
            "chrome-extension://abcdefghijklmnop",
        ] {
            assert!(Origins::read(good).is_ok(), "{good}");
        }
        for bad in [
            "null",
            "app.example.com",
            "localhost:3000",
            "https://",
            "https://app.example.com/",
            "https://app.example.com/path",
            "https://app.example.com?x",
            "https://app.example.com:443",
            "https://APP.example.com",
            "https://me@app.example.com",
            "https://*.example.com",
            "https://bücher.example",
            "file:///tmp",
            "https://a.example,",
            "https://a.example,*",
            "*,*",
        ] {
            assert!(Origins::read(bad).is_err(), "{bad}");
        }
        let said = Origins::read("https://APP.example.com:443/").unwrap_err();
        assert!(said.contains("\"https://app.example.com\""), "{said}");
    }
}
