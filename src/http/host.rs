//! A server without auth answers this machine only, whatever name it was called by.
//!
//! A web page of anybody's can have its own host name lead to 127.0.0.1 (DNS rebinding) and then speak to a server
//! there as to its own. Its requests still carry that name in `Host`.

use std::net::IpAddr;

use axum::{
    extract::Request,
    http::{StatusCode, Uri, header, uri::Authority},
    middleware::Next,
    response::Response,
};

use super::refusal::Refusal;
use crate::chat::error::ErrorCode;

/// Refuses a request that was sent to another host's name.
pub(super) async fn only_this(request: Request, next: Next) -> Response {
    let named = request
        .headers()
        .get(header::HOST)
        .map(|host| Authority::try_from(host.as_bytes()));
    let is_ours = match (&named, request.uri().authority()) {
        (Some(Ok(host)), None) | (_, Some(host)) => is_this_machine(host.host()),
        // HTTP/1.0 knows no Host, and no browser speaks it.
        (None, None) => true,
        (Some(Err(_)), None) => false,
    };
    if is_ours {
        return next.run(request).await;
    }
    refuse(request.uri())
}

fn refuse(uri: &Uri) -> Response {
    let message = "without auth the server answers only to localhost, 127.0.0.1 or [::1]; a proxy in front has to send one of them as Host";
    Refusal::new(StatusCode::MISDIRECTED_REQUEST, ErrorCode::Forbidden, message).at(uri.path())
}

fn is_this_machine(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    match address.parse::<IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => host.eq_ignore_ascii_case("localhost"),
    }
}
