//! What a token says, and whom that lets in.
//!
//! The claims are those of RFC 7519; a claim that is missing, empty, repeated or of the wrong type lets nobody in.

use chrono::{DateTime, TimeDelta, Utc};

use crate::chat::{
    json::Json,
    scope::{Narrowing, Scope},
};

/// Whom a token has to be meant for.
pub(super) const AUDIENCE: &str = "threadline";

/// How far the issuer's clock may run ahead of ours. A token is meant to live longer than clocks differ, so its end
/// is taken at its word.
const LEEWAY: TimeDelta = TimeDelta::seconds(60);

/// The first second of the year 10000: later times are a mistake or an attack.
const NEVER: f64 = 253_402_300_800.0;

/// The scope that claims grant now; otherwise why they grant none, for the log.
pub(super) fn scope(claims: &[u8], now: DateTime<Utc>) -> Result<Scope, &'static str> {
    // Strict: whichever of two claims of one name another reader would take, this one takes neither.
    let claims = Json::parse(claims).map_err(|_| "the claims cannot be read")?;
    if time(&claims, "exp")?.ok_or("exp is missing")? <= now {
        return Err("the token has expired");
    }
    if time(&claims, "nbf")?.is_some_and(|begin| begin > now + LEEWAY) {
        return Err("the token is not valid yet");
    }
    if !is_for_us(claims.get("aud")) {
        return Err("aud is not threadline");
    }
    let role = text(&claims, "role")?.ok_or("role is missing")?;
    let narrowed_to = Narrowing {
        agent_id: text(&claims, "agent")?,
        channel: text(&claims, "channel")?,
        person_id: text(&claims, "person")?,
    };
    Scope::new(
        text(&claims, "team")?.ok_or("team is missing")?,
        role.parse().map_err(|_| "role is none")?,
        narrowed_to,
    )
    .map_err(|_| "team, agent, channel or person is not allowed")
}

/// A text, or nothing where there is no such claim. An empty one fails later, as a name that is none.
fn text(claims: &Json, name: &str) -> Result<Option<String>, &'static str> {
    match claims.get(name) {
        None => Ok(None),
        Some(Json::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err("a claim that has to be a string is none"),
    }
}

/// A time in seconds since 1970, perhaps with a fraction.
fn time(claims: &Json, name: &str) -> Result<Option<DateTime<Utc>>, &'static str> {
    let Some(claim) = claims.get(name) else {
        return Ok(None);
    };
    let Json::Number(digits) = claim else {
        return Err("a time is not a number");
    };
    let seconds = digits
        .parse()
        .ok()
        .filter(|seconds| (0.0..NEVER).contains(seconds));
    seconds
        .and_then(|seconds: f64| DateTime::from_timestamp_millis((seconds * 1000.0) as i64))
        .map(Some)
        .ok_or("a time is out of range")
}

fn is_for_us(audience: Option<&Json>) -> bool {
    match audience {
        Some(Json::String(only)) => only == AUDIENCE,
        Some(Json::Array(several)) => {
            several.iter().all(|one| one.as_str().is_some())
                && several.iter().any(|one| one.as_str() == Some(AUDIENCE))
        }
        _ => false,
    }
}
