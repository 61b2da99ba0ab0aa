//! Cursors: positions in a list that only this server can make, for one list and one viewer.
//!
//! A cursor is `version ‖ position ‖ MAC` in URL-safe base64. What it is bound to (list, filter, order, viewer)
//! is not in it: the MAC is computed over it, so a cursor of anything else does not verify. The MAC is BLAKE3
//! in its keyed mode.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use uuid::Uuid;

use super::{
    error::{Error, Result},
    id::ThreadId,
    scope::{Scope, ViewerRole},
};

const VERSION: u8 = 1;
const POSITION_LEN: usize = 16;
const MAC_LEN: usize = blake3::OUT_LEN;
const KEY_CONTEXT: &str = "threadline 2026 cursor MAC key";

/// A list that a cursor belongs to, with everything that changes which rows it has.
#[derive(Clone, Copy, Debug)]
pub enum List<'a> {
    /// An agent's messages over all its threads.
    AgentMessages {
        /// The agent.
        agent_id: &'a str,
    },
    /// An agent's threads.
    Threads {
        /// The agent.
        agent_id: &'a str,
        /// Only this channel's.
        channel: Option<&'a str>,
        /// Only this person's.
        person_id: Option<&'a str>,
        /// What the list is ordered by.
        order: ThreadOrder,
    },
    /// A thread's messages.
    Messages {
        /// The thread.
        thread_id: ThreadId,
        /// Which of them.
        view: HistoryView,
    },
}

/// What a list of threads is ordered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ThreadOrder {
    /// When the thread began.
    Created,
    /// When its newest message was stored.
    Activity,
}

/// Which messages of a thread to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HistoryView {
    /// Everything a person can scroll to.
    Full,
    /// What the model is given.
    Context,
}

/// The keys that sign and accept cursors: the first signs, all are accepted.
#[derive(Clone)]
pub struct CursorKeys(Vec<[u8; blake3::KEY_LEN]>);

impl CursorKeys {
    /// Derives the keys from secrets of any length; none means that no cursor will ever verify.
    pub fn new<S: AsRef<[u8]>>(secrets: impl IntoIterator<Item = S>) -> Self {
        Self(
            secrets
                .into_iter()
                .map(|secret| blake3::derive_key(KEY_CONTEXT, secret.as_ref()))
                .collect(),
        )
    }

    /// The cursor that goes on from a position, further back in time.
    #[must_use]
    pub fn seal(&self, scope: &Scope, list: &List<'_>, position: Uuid) -> String {
        let key = self.0.first().expect("a gateway has at least one cursor key");
        let mut bytes = [0; 1 + POSITION_LEN + MAC_LEN];
        let (head, tail) = bytes.split_at_mut(1 + POSITION_LEN);
        head[0] = VERSION;
        head[1..].copy_from_slice(position.as_bytes());
        tail.copy_from_slice(mac(key, scope, list, head).as_bytes());
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The position in a cursor.
    ///
    /// # Errors
    /// [`Error::InvalidCursor`] unless one of these keys sealed just these characters for this list and viewer.
    pub fn open(&self, scope: &Scope, list: &List<'_>, cursor: &str) -> Result<Uuid> {
        let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| Error::InvalidCursor)?;
        let (head, tail) = bytes
            .split_at_checked(1 + POSITION_LEN)
            .ok_or(Error::InvalidCursor)?;
        let tail: [u8; MAC_LEN] = tail.try_into().map_err(|_| Error::InvalidCursor)?;
        // `blake3::Hash` compares in constant time.
        let known = self.0.iter().any(|key| mac(key, scope, list, head) == tail);
        if !known || head[0] != VERSION {
            return Err(Error::InvalidCursor);
        }
        Uuid::from_slice(&head[1..]).map_err(|_| Error::InvalidCursor)
    }
}

fn mac(key: &[u8; blake3::KEY_LEN], scope: &Scope, list: &List<'_>, head: &[u8]) -> blake3::Hash {
    let mut mac = Mac(blake3::Hasher::new_keyed(key));
    mac.field(Some(head));
    mac.name(Some(scope.team_id()));
    mac.field(Some(&[u8::from(scope.role() == ViewerRole::Widget)]));
    mac.name(scope.agent_id());
    mac.name(scope.channel());
    mac.name(scope.person_id());
    match list {
        List::AgentMessages { agent_id } => {
            mac.name(Some("agent messages"));
            mac.name(Some(agent_id));
        }
        List::Threads {
            agent_id,
            channel,
            person_id,
            order,
        } => {
            mac.name(Some("threads"));
            mac.name(Some(agent_id));
            mac.name(*channel);
            mac.name(*person_id);
            mac.field(Some(&[u8::from(*order == ThreadOrder::Activity)]));
        }
        List::Messages { thread_id, view } => {
            mac.name(Some("messages"));
            mac.field(Some(thread_id.0.as_bytes()));
            mac.field(Some(&[u8::from(*view == HistoryView::Context)]));
        }
    }
    mac.0.finalize()
}

/// Feeds a hash field by field, so that no two lists of fields are the same bytes.
struct Mac(blake3::Hasher);

impl Mac {
    fn field(&mut self, bytes: Option<&[u8]>) {
        self.0
            .update(&bytes.map_or(u64::MAX, |bytes| bytes.len() as u64).to_le_bytes());
        self.0.update(bytes.unwrap_or_default());
    }

    fn name(&mut self, name: Option<&str>) {
        self.field(name.map(str::as_bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: List<'_> = List::AgentMessages { agent_id: "support" };

    #[test]
    fn a_cursor_opens_to_its_position_and_is_short() {
        let keys = CursorKeys::new(["secret"]);
        let position = Uuid::from_u128(42);
        let cursor = keys.seal(&Scope::local(), &LIST, position);
        assert!(cursor.len() <= 256);
        assert_eq!(keys.open(&Scope::local(), &LIST, &cursor).unwrap(), position);
    }

    #[test]
    fn any_bit_changed_is_refused() {
        let keys = CursorKeys::new(["secret"]);
        let cursor = keys.seal(&Scope::local(), &LIST, Uuid::from_u128(42));
        for bit in 0..cursor.len() * 8 {
            let mut bytes = cursor.clone().into_bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let changed = String::from_utf8_lossy(&bytes);
            assert!(keys.open(&Scope::local(), &LIST, &changed).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn another_spelling_and_another_length_are_refused() {
        let keys = CursorKeys::new(["secret"]);
        let cursor = keys.seal(&Scope::local(), &LIST, Uuid::from_u128(42));
        for wrong in [
            String::new(),
            format!("{cursor}="),
            format!("{cursor}A"),
            format!(" {cursor}"),
            cursor[1..].to_owned(),
        ] {
            assert!(keys.open(&Scope::local(), &LIST, &wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_cursor_of_another_list_is_refused() {
        let keys = CursorKeys::new(["secret"]);
        let thread_id = ThreadId(Uuid::from_u128(1));
        let threads = |agent_id, channel, person_id, order| List::Threads {
            agent_id,
            channel,
            person_id,
            order,
        };
        let lists = [
            LIST,
            List::AgentMessages { agent_id: "sales" },
            threads("support", None, None, ThreadOrder::Created),
            threads("support", None, None, ThreadOrder::Activity),
            threads("support", Some("api"), None, ThreadOrder::Created),
            threads("support", None, Some("api"), ThreadOrder::Created),
            List::Messages {
                thread_id,
                view: HistoryView::Full,
            },
            List::Messages {
                thread_id,
                view: HistoryView::Context,
            },
            List::Messages {
                thread_id: ThreadId(Uuid::from_u128(2)),
                view: HistoryView::Full,
            },
        ];
        for (i, made_for) in lists.iter().enumerate() {
            let cursor = keys.seal(&Scope::local(), made_for, Uuid::from_u128(42));
            for (j, used_for) in lists.iter().enumerate() {
                assert_eq!(
                    keys.open(&Scope::local(), used_for, &cursor).is_ok(),
                    i == j,
                    "{made_for:?} {used_for:?}"
                );
            }
        }
    }

    #[test]
    fn an_old_key_is_accepted_after_a_new_one_signs() {
        let old = CursorKeys::new(["old"]);
        let rotated = CursorKeys::new(["new", "old"]);
        let cursor = old.seal(&Scope::local(), &LIST, Uuid::from_u128(42));
        assert!(rotated.open(&Scope::local(), &LIST, &cursor).is_ok());
        assert!(
            old.open(
                &Scope::local(),
                &LIST,
                &rotated.seal(&Scope::local(), &LIST, Uuid::nil())
            )
            .is_err()
        );
    }
}
