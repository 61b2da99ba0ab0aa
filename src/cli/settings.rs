//! The settings as the parts want them, checked.

mod surface;

use std::{net::SocketAddr, ops::RangeInclusive, time::Duration};

use url::Url;

use crate::{
    chat::{gateway::GatewayLimits, turn::WriteLimits},
    config::{Config, ConfigError},
    http::{Surface, guard::Limits},
    storage::DatabaseSettings,
    telemetry::{self, Log, Traces},
};

/// The shortest secret that cannot be guessed.
const MIN_SECRET: usize = 32;
/// The largest content of a message that may be allowed.
const MAX_MESSAGE_BYTES: usize = 1 << 20;
/// PostgreSQL and SQLite count a timeout's milliseconds in 31 bits.
const MAX_DURATION: Duration = Duration::from_secs(24 * 24 * 60 * 60);
/// PostgreSQL cuts longer names.
const MAX_SCHEMA: usize = 63;

type Result<T> = std::result::Result<T, ConfigError>;

/// Everything that the commands need to know.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub listen: SocketAddr,
    pub database: DatabaseSettings,
    pub auth_secret: Option<String>,
    pub auth_jwks: Option<String>,
    pub cursor_secrets: Vec<String>,
    pub gateway: GatewayLimits,
    pub http: Limits,
    pub surface: Surface,
    pub admin: Option<Admin>,
    pub log: Log,
    pub traces: Option<Traces>,
}

/// Where those who run the server look at it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Admin {
    pub listen: SocketAddr,
    /// Nobody asked for this address, so the server can do without it.
    pub is_default: bool,
}

impl Settings {
    /// Whether requests need tokens.
    pub(super) fn has_auth(&self) -> bool {
        self.auth_secret.is_some() || self.auth_jwks.is_some()
    }

    pub(super) fn read(config: &Config) -> Result<Self> {
        let http = http(config)?;
        Ok(Self {
            listen: address(config, "listen", "127.0.0.1:8080")?,
            database: database(config)?,
            auth_secret: auth_secret(config)?,
            auth_jwks: given(config, "auth.jwks")?,
            cursor_secrets: secrets(config)?,
            gateway: gateway(config)?,
            surface: surface::read(config, &http)?,
            http,
            admin: admin(config)?,
            log: log(config)?,
            traces: traces(config)?,
        })
    }
}

fn address(config: &Config, name: &str, example: &str) -> Result<SocketAddr> {
    let text: String = config.get(name)?;
    text.parse().map_err(|_| {
        config.wrong(
            name,
            &format!("it has to be an address and a port, like {example}"),
        )
    })
}

fn admin(config: &Config) -> Result<Option<Admin>> {
    let name = "admin.listen";
    if config.get::<String>(name)? == "off" {
        return Ok(None);
    }
    Ok(Some(Admin {
        listen: address(config, name, "127.0.0.1:9464, or off")?,
        is_default: config.is_default(name),
    }))
}

fn traces(config: &Config) -> Result<Option<Traces>> {
    let endpoint: String = config.get("otel.endpoint")?;
    let sample: String = config.get("otel.sample")?;
    let sample = sample.parse().ok().filter(|part| (0.0..=1.0).contains(part));
    let sample = sample.ok_or_else(|| config.wrong("otel.sample", "it has to be a number from 0 to 1"))?;
    if endpoint.is_empty() {
        return Ok(None);
    }
    let is_base = |url: &Url| {
        matches!(url.scheme(), "http" | "https")
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
    };
    if !Url::parse(&endpoint).is_ok_and(|url| is_base(&url)) {
        let reason = "it has to be a URL like http://127.0.0.1:4318; what a collector needs to let us in goes into the variable OTEL_EXPORTER_OTLP_HEADERS";
        return Err(config.wrong("otel.endpoint", reason));
    }
    Ok(Some(Traces { endpoint, sample }))
}

fn database(config: &Config) -> Result<DatabaseSettings> {
    // Moving the chats to a database of their own is this one line.
    let chat_url: String = config.get("chat.database.url")?;
    let (name, url) = match chat_url.as_str() {
        "" => ("database.url", config.get("database.url")?),
        _ => ("chat.database.url", chat_url),
    };
    let known = ["sqlite:", "postgres://", "postgresql://"];
    if !known.iter().any(|scheme| url.starts_with(scheme)) {
        return Err(config.wrong(name, "it has to begin with sqlite:// or postgres://"));
    }
    // The libraries below panic over a URL that is none.
    if let Err(error) = Url::parse(&url) {
        let reason =
            format!("it is no URL ({error}); in a password, write @ : / ? # % as %40 %3A %2F %3F %23 %25");
        return Err(config.wrong(name, &reason));
    }
    if url.contains(":memory:") || url.contains("mode=memory") {
        return Err(config.wrong(
            name,
            "a SQLite database has to be a file; `serve --demo` has a scratch one",
        ));
    }
    let schema: String = config.get("database.schema")?;
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if schema.len() > MAX_SCHEMA
        || !schema.chars().all(plain)
        || schema.starts_with(|c: char| c.is_ascii_digit())
        || schema.is_empty()
    {
        return Err(config.wrong(
            "database.schema",
            "it has to be made of a-z, 0-9 and _, with no digit first, 63 characters at most",
        ));
    }
    Ok(DatabaseSettings {
        url,
        schema,
        max_connections: config.get("database.max_connections")?,
        acquire_timeout: duration(config, "database.acquire_timeout")?,
        statement_timeout: duration(config, "database.statement_timeout")?,
        lock_timeout: duration(config, "database.lock_timeout")?,
        idle_in_transaction_timeout: duration(config, "database.idle_in_transaction_timeout")?,
    })
}

fn gateway(config: &Config) -> Result<GatewayLimits> {
    let most = usize::MAX;
    Ok(GatewayLimits {
        page_items: u32::try_from(within(config, "limits.page_items", 1..=200)?).unwrap_or(u32::MAX),
        page_bytes: within(config, "limits.page_bytes", 1..=most)?,
        write: WriteLimits {
            message_bytes: within(config, "limits.message_bytes", 1..=MAX_MESSAGE_BYTES)?,
            turn_bytes: within(config, "limits.turn_bytes", 1..=most)?,
        },
    })
}

fn http(config: &Config) -> Result<Limits> {
    for name in ["header", "body", "request", "drain"] {
        duration(config, &format!("limits.{name}_timeout"))?;
    }
    config.table("limits")
}

fn within(config: &Config, name: &str, allowed: RangeInclusive<usize>) -> Result<usize> {
    let value = config.get(name)?;
    if allowed.contains(&value) {
        return Ok(value);
    }
    let (least, most) = allowed.into_inner();
    Err(config.wrong(name, &format!("it has to be from {least} to {most}")))
}

fn secrets(config: &Config) -> Result<Vec<String>> {
    let listed: String = config.get("cursor.secrets")?;
    if listed.is_empty() {
        return Ok(Vec::new());
    }
    let secrets: Vec<_> = listed.split(',').map(|secret| secret.trim().to_owned()).collect();
    if secrets.iter().any(|secret| secret.len() < MIN_SECRET) {
        let reason = format!("each secret has to have at least {MIN_SECRET} bytes, with commas between them");
        return Err(config.wrong("cursor.secrets", &reason));
    }
    Ok(secrets)
}

fn auth_secret(config: &Config) -> Result<Option<String>> {
    let secret = given(config, "auth.secret")?;
    // A secret that did not arrive must not open the server to everybody.
    if secret.is_none() && config.is_from_a_variable("auth.secret") {
        return Err(config.wrong(
            "auth.secret",
            "it is empty; unset the variable to serve without auth",
        ));
    }
    if secret.as_ref().is_some_and(|secret| secret.len() < MIN_SECRET) {
        let reason = format!("it has to have at least {MIN_SECRET} bytes, as of `openssl rand -base64 32`");
        return Err(config.wrong("auth.secret", &reason));
    }
    Ok(secret)
}

/// A text that means nothing when it is empty.
fn given(config: &Config, name: &str) -> Result<Option<String>> {
    Ok(Some(config.get(name)?).filter(|text: &String| !text.is_empty()))
}

fn duration(config: &Config, name: &str) -> Result<Duration> {
    let text: String = config.get(name)?;
    humantime::parse_duration(&text)
        .ok()
        .filter(|time| (Duration::from_millis(1)..=MAX_DURATION).contains(time))
        .ok_or_else(|| {
            config.wrong(
                name,
                "it has to be a time from 1ms to 24days, like 15s, 2m or 500ms",
            )
        })
}

fn log(config: &Config) -> Result<Log> {
    let level: String = config.get("log.level")?;
    let filter = telemetry::parse_filter(&level).ok_or_else(|| {
        config.wrong(
            "log.level",
            "it has to be a level, and after it perhaps levels of parts",
        )
    })?;
    let format = config
        .get("log.format")
        .map_err(|_| config.wrong("log.format", "it has to be text or json"))?;
    Ok(Log { format, filter })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Sources;

    fn read(flags: &[(&str, &str)]) -> Result<Settings> {
        let flags = flags
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let sources = Sources {
            flags: flags.collect(),
            ..Sources::default()
        };
        Settings::read(&Config::load(&sources)?)
    }

    #[test]
    fn the_defaults_are_the_defaults_of_the_parts() {
        let settings = read(&[]).unwrap();
        assert_eq!(settings.gateway, GatewayLimits::default());
        assert_eq!(settings.http, Limits::default());
        assert_eq!(settings.surface, Surface::default());
        assert_eq!(settings.database.statement_timeout, Duration::from_secs(5));
        assert!(settings.listen.ip().is_loopback() && settings.cursor_secrets.is_empty());
    }

    #[test]
    fn the_admin_listener_has_a_default_may_be_set_and_may_be_off() {
        let admin = |flags: &[(&str, &str)]| read(flags).unwrap().admin;
        let unset = admin(&[]).unwrap();
        assert!(unset.is_default && unset.listen.ip().is_loopback());
        // Whoever names an address means it, whichever it is.
        assert!(!admin(&[("admin.listen", "127.0.0.1:9464")]).unwrap().is_default);
        assert!(admin(&[("admin.listen", "off")]).is_none());
    }

    #[test]
    fn chats_may_have_a_database_of_their_own() {
        let (url, own) = ("postgres://a/b", "postgres://c/d");
        assert_eq!(read(&[("database.url", url)]).unwrap().database.url, url);
        let both = read(&[("database.url", url), ("chat.database.url", own)]).unwrap();
        assert_eq!(both.database.url, own);
    }

    #[test]
    fn what_is_not_allowed_is_refused_by_name() {
        let short = format!("{},{}", "a".repeat(32), "b".repeat(31));
        for (name, value) in [
            ("listen", "8080"),
            ("listen", "localhost"),
            ("database.url", "mysql://a/b"),
            ("database.url", "sqlite::memory:"),
            ("chat.database.url", "x"),
            ("database.url", "postgres://me:p#w@host/db"),
            ("chat.database.url", "postgres://host:99999/db"),
            ("database.url", "sqlite://[x"),
            ("database.schema", "Ünsinn"),
            ("database.schema", "1a"),
            ("database.lock_timeout", "2"),
            ("database.lock_timeout", "0s"),
            ("database.max_connections", "4294967296"),
            ("limits.page_items", "201"),
            ("limits.message_bytes", "1048577"),
            ("database.lock_timeout", "25days"),
            ("limits.body_timeout", "soon"),
            ("limits.header_timeout", "0s"),
            ("limits.request_timeout", "300years"),
            ("limits.documents", "no such file"),
            ("graphql.graphiql", "off"),
            ("cors.origins", "https://app.example.com/"),
            ("cursor.secrets", &short),
            ("auth.secret", &short[..31]),
            ("admin.listen", "9464"),
            ("admin.listen", "none"),
            ("otel.endpoint", "127.0.0.1:4318"),
            ("otel.endpoint", "ftp://collector"),
            ("otel.endpoint", "https://me:password@collector"),
            ("otel.sample", "2"),
            ("otel.sample", "half"),
            ("log.level", "loud"),
            ("log.format", "xml"),
        ] {
            let refused = read(&[(name, value)]).unwrap_err().to_string();
            assert!(
                refused.starts_with(&format!("{name} = ")),
                "{name}={value}: {refused}"
            );
            assert!(refused.contains("cannot be used"), "{refused}");
        }
    }
}
