//! Ids: what they look like outside, and how they order inside.
//!
//! Inside they are UUIDs of version 7 whose first 60 free bits are the time to the microsecond
//! (RFC 9562, section 6.2, method 3), so the order of ids is the order of times, and the bytes sort alike in
//! PostgreSQL, in SQLite and here.

use std::{fmt, str::FromStr};

use chrono::{DateTime, Utc};
use uuid::{Uuid, Variant};

use super::error::{Error, Result};

/// How long an id that the product chooses may be, in characters.
const MAX_NAME: usize = 200;

macro_rules! prefixed_id {
    ($(#[$doc:meta])* $name:ident, $what:literal, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0.as_hyphenated())
            }
        }

        impl FromStr for $name {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self> {
                text.strip_prefix($prefix)
                    .and_then(|uuid| Uuid::try_parse(uuid).ok())
                    .map(Self)
                    // One spelling only: an id is compared as a string by those who keep it.
                    .filter(|id| id.to_string() == text)
                    .ok_or_else(|| {
                        Error::bad_input(concat!("a ", $what, " id looks like ", $prefix,
                            "01890a5d-ac96-774b-bcce-b302099a8057"))
                    })
            }
        }
    };
}

prefixed_id!(
    /// A thread's id, `chat-{uuid}` outside.
    ThreadId,
    "thread",
    "chat-"
);
prefixed_id!(
    /// A message's id, `msg-{uuid}` outside. Within a thread its order is the reading order.
    MessageId,
    "message",
    "msg-"
);

/// The smallest id of a microsecond. `fill` gives the 62 low bits.
#[must_use]
pub fn at(time: DateTime<Utc>, fill: u64) -> Uuid {
    let millis = u64::try_from(time.timestamp_millis()).unwrap_or(0);
    let micros = u64::from(time.timestamp_subsec_micros() % 1000);
    // 1,000 microseconds over 4,096 values, rounded up so that `time_of` finds the same microsecond again.
    let fraction = (micros * 4096).div_ceil(1000);
    let high = (millis << 16) | (0x7 << 12) | fraction;
    let low = (0b10 << 62) | (fill & (u64::MAX >> 2));
    Uuid::from_u64_pair(high, low)
}

/// The time in an id, to the microsecond.
#[must_use]
pub fn time_of(id: Uuid) -> DateTime<Utc> {
    let (high, _) = id.as_u64_pair();
    let micros = (high >> 16) * 1000 + ((high & 0xFFF) * 1000) / 4096;
    i64::try_from(micros)
        .ok()
        .and_then(DateTime::from_timestamp_micros)
        .unwrap_or(DateTime::<Utc>::MAX_UTC)
}

/// The id right after another: the low 62 bits counted up, the time carried on when they are full.
#[must_use]
pub fn next(id: Uuid) -> Uuid {
    let (high, low) = id.as_u64_pair();
    match (low & (u64::MAX >> 2))
        .checked_add(1)
        .filter(|fill| *fill <= u64::MAX >> 2)
    {
        Some(fill) => Uuid::from_u64_pair(high, (0b10 << 62) | fill),
        None => {
            // The version sits inside the time's bits: step over it.
            let time = ((high >> 16) << 12) | (high & 0xFFF);
            let time = time + 1;
            Uuid::from_u64_pair(((time >> 12) << 16) | (0x7 << 12) | (time & 0xFFF), 0b10 << 62)
        }
    }
}

/// Whether an id is one of ours: version 7 of the RFC's variant.
#[must_use]
pub fn is_time_ordered(id: Uuid) -> bool {
    id.get_version_num() == 7 && id.get_variant() == Variant::RFC4122
}

/// Checks an id that the product chose (agent, person, team, turn): 1 to 200 characters, none of them control
/// characters.
///
/// # Errors
/// [`Error::BadInput`] naming `field`.
pub fn check_name(field: &str, name: &str) -> Result<()> {
    let length = name.chars().count();
    if length == 0 || length > MAX_NAME || name.chars().any(char::is_control) {
        return Err(Error::BadInput(format!(
            "{field} has 1 to {MAX_NAME} characters and no control characters among them"
        )));
    }
    Ok(())
}

/// Checks a channel: what [`check_name`] asks, and lower case letters, digits, `.`, `_` and `-`, not first.
///
/// # Errors
/// [`Error::BadInput`].
pub fn check_channel(channel: &str) -> Result<()> {
    check_name("channel", channel)?;
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let fits = channel
        .chars()
        .enumerate()
        .all(|(i, c)| plain(c) || (i > 0 && matches!(c, '.' | '_' | '-')));
    if !fits {
        return Err(Error::bad_input(
            "channel is made of a-z, 0-9, `.`, `_` and `-`, and begins with a letter or digit",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_one_spelling() {
        let id = ThreadId(at(
            DateTime::from_timestamp_micros(1_700_000_000_123_456).unwrap(),
            7,
        ));
        assert_eq!(id.to_string().parse::<ThreadId>().unwrap(), id);
        for wrong in [
            id.to_string().to_uppercase(),
            id.to_string().replace("chat-", "msg-"),
            id.to_string().replace("chat-", ""),
            format!("chat-{}", id.0.as_simple()),
            format!("chat-{{{}}}", id.0),
            format!(" {id}"),
            String::new(),
        ] {
            assert!(wrong.parse::<ThreadId>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_time_in_an_id_is_exact_to_the_microsecond_and_orders_ids() {
        let mut last = Uuid::nil();
        for micros in (0..3000).map(|n| 1_700_000_000_000_000 + n) {
            let time = DateTime::from_timestamp_micros(micros).unwrap();
            let id = at(time, u64::MAX);
            assert_eq!(time_of(id), time);
            assert!(at(time, 0) > last && is_time_ordered(id));
            last = id;
        }
    }

    #[test]
    fn the_next_id_is_greater_even_when_the_counter_is_full() {
        let time = DateTime::from_timestamp_micros(1_700_000_000_000_999).unwrap();
        for id in [at(time, 0), at(time, u64::MAX - 1), at(time, u64::MAX)] {
            assert!(next(id) > id && is_time_ordered(next(id)));
        }
    }

    #[test]
    fn names_and_channels_are_checked() {
        assert!(check_name("agentId", "Ünï 😀 '; DROP TABLE").is_ok());
        assert!(check_name("agentId", &"é".repeat(200)).is_ok());
        for wrong in ["", "a\u{0}b", "a\nb", "\u{85}", &"é".repeat(201)] {
            assert!(check_name("agentId", wrong).is_err(), "{wrong:?}");
        }
        assert!(check_channel("web.chat_2-x").is_ok());
        for wrong in ["", "Widget", "-a", ".a", "a b", "é"] {
            assert!(check_channel(wrong).is_err(), "{wrong:?}");
        }
    }
}
