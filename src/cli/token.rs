//! `threadline token`

use std::time::Duration;

use anyhow::{Context, Result};

use super::settings::Settings;
use crate::{
    chat::{
        clock::Clock,
        scope::{DEFAULT_TEAM, Narrowing, Scope, ViewerRole},
    },
    config::ConfigError,
    http::auth,
};

/// Print a token, signed with `auth.secret`
///
/// For trying things out, and for scripts. A widget's is made by your own server for each person, in any language: see
/// the README for its claims.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What its bearer may do: widget, dashboard, agent or admin
    #[arg(long)]
    role: ViewerRole,
    /// The team whose chats its bearer sees
    #[arg(long, default_value = DEFAULT_TEAM)]
    team: String,
    /// Only this agent's chats
    #[arg(long)]
    agent: Option<String>,
    /// Only this channel's threads
    #[arg(long)]
    channel: Option<String>,
    /// Only this person's threads
    #[arg(long)]
    person: Option<String>,
    /// How long it is good for
    #[arg(long, default_value = "1h", value_parser = humantime::parse_duration)]
    ttl: Duration,
}

pub(super) fn mint(settings: &Settings, args: Args) -> Result<String> {
    let secret = settings.auth_secret.as_ref().ok_or_else(|| {
        ConfigError::Refused(
            "there is no auth.secret to sign with: set THREADLINE_AUTH_SECRET, to the server's".to_owned(),
        )
    })?;
    let narrowed_to = Narrowing {
        agent_id: args.agent,
        channel: args.channel,
        person_id: args.person,
    };
    let scope = Scope::new(args.team, args.role, narrowed_to)
        .map_err(|error| ConfigError::Refused(error.to_string()))?;
    let now = Clock::default().now();
    let expires_at = chrono::Duration::from_std(args.ttl)
        .ok()
        .and_then(|ttl| now.checked_add_signed(ttl))
        .ok_or_else(|| ConfigError::Refused("--ttl is too long".to_owned()))?;
    let token = auth::mint(secret, &scope, now, expires_at).context("the token cannot be signed")?;
    Ok(format!("{token}\n"))
}
