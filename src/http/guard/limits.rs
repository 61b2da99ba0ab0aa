//! What one request may cost, in one place.

use std::{num::NonZeroU32, time::Duration};

use serde::{Deserialize, Serialize};

/// The limits of the HTTP side: the settings under `limits.*`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// The longest GraphQL document, in bytes.
    pub document_bytes: usize,
    /// The most tokens in a document.
    pub tokens: usize,
    /// The deepest nesting of `()`, `[]` and `{}` together.
    pub nesting: usize,
    /// The most fragments a document may define.
    pub fragments: usize,
    /// The most fields, counted with every fragment spread written out.
    pub fields: usize,
    /// The deepest field; the standard introspection query needs 15.
    pub depth: usize,
    /// The highest cost, where a field costs 1 and a page 1 + its limit × what one item costs.
    pub complexity: usize,
    /// The most aliases, counted with every fragment spread written out.
    pub aliases: usize,
    /// The most fields at the root of an operation.
    pub root_fields: usize,
    /// The most directives on one field, spread, fragment, operation or variable.
    pub directives: usize,
    /// The largest request body, in bytes.
    pub body_bytes: usize,
    /// The most JSON values in a GraphQL request: the smallest take a hundred times their text in memory.
    pub json_values: usize,
    /// How many requests a second a token of the roles `widget` and `dashboard` may send.
    pub person_rate: NonZeroU32,
    /// How many of these it may send at once.
    pub person_burst: NonZeroU32,
    /// How many requests a second a token of the roles `agent` and `admin` may send.
    pub agent_rate: NonZeroU32,
    /// How many of these it may send at once.
    pub agent_burst: NonZeroU32,
    /// The most connections at once.
    pub connections: usize,
    /// How long a client may take to send the head of a request, and how long it may leave a connection idle.
    #[serde(with = "human")]
    pub header_timeout: Duration,
    /// How long a client may take to send the body of a request, and how long it may read nothing of an answer.
    #[serde(with = "human")]
    pub body_timeout: Duration,
    /// How long the answer to a request may take, counted from the end of its body.
    #[serde(with = "human")]
    pub request_timeout: Duration,
    /// How long a stopping server waits for the requests it has begun.
    #[serde(with = "human")]
    pub drain_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            document_bytes: 64 * 1024,
            tokens: 4_000,
            nesting: 64,
            fragments: 20,
            fields: 500,
            depth: 16,
            complexity: 5_000,
            aliases: 30,
            root_fields: 10,
            directives: 5,
            body_bytes: 4 * 1024 * 1024,
            json_values: 256 * 1024,
            person_rate: number(50),
            person_burst: number(100),
            agent_rate: number(2_000),
            agent_burst: number(2_000),
            connections: 16 * 1024,
            header_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(30),
            request_timeout: Duration::from_secs(15),
            drain_timeout: Duration::from_secs(15),
        }
    }
}

const fn number(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).expect("a default is not zero")
}

/// Durations as people write them: `15s`, `2m`.
mod human {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(value: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&humantime::format_duration(*value))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        let text = String::deserialize(deserializer)?;
        humantime::parse_duration(&text).map_err(D::Error::custom)
    }
}
