//! A cursor is what this server sealed, for this list and viewer, to the character: nothing else opens.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use threadline::chat::{
    cursor::{CursorKeys, HistoryView, List, ThreadOrder},
    id::ThreadId,
    scope::Scope,
};
use uuid::Uuid;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    position: u128,
    made_for: AnyList<'a>,
    used_for: AnyList<'a>,
    how: How<'a>,
}

/// What comes back in place of the cursor.
#[derive(Arbitrary, Debug)]
enum How<'a> {
    AsItWas,
    Anything(&'a str),
    Inserted(u8, char),
    Removed(u8),
    Replaced(u8, char),
}

#[derive(Arbitrary, Debug, PartialEq)]
enum AnyList<'a> {
    AgentMessages(&'a str),
    Threads(&'a str, Option<&'a str>, Option<&'a str>, bool),
    Messages(u128, bool),
}

fuzz_target!(|input: Input<'_>| {
    let keys = CursorKeys::new(["a secret that nobody guesses"]);
    let scope = Scope::local();
    let position = Uuid::from_u128(input.position);
    let cursor = keys.seal(&scope, &input.made_for.list(), position);
    let sent = input.how.spoil(&cursor);
    let opened = keys.open(&scope, &input.used_for.list(), &sent);
    if sent == cursor && input.made_for == input.used_for {
        assert_eq!(opened.expect("its own cursor"), position);
    } else {
        assert!(opened.is_err(), "{sent} was taken for {cursor}");
    }
});

impl How<'_> {
    fn spoil(&self, cursor: &str) -> String {
        let mut text: Vec<char> = cursor.chars().collect();
        let place = |at: u8| usize::from(at) % cursor.len();
        match *self {
            Self::AsItWas => {}
            Self::Anything(other) => return other.to_owned(),
            Self::Inserted(at, c) => text.insert(place(at), c),
            Self::Removed(at) => drop(text.remove(place(at))),
            Self::Replaced(at, c) => text[place(at)] = c,
        }
        text.into_iter().collect()
    }
}

impl AnyList<'_> {
    fn list(&self) -> List<'_> {
        match *self {
            Self::AgentMessages(agent_id) => List::AgentMessages { agent_id },
            Self::Threads(agent_id, channel, person_id, by_activity) => List::Threads {
                agent_id,
                channel,
                person_id,
                order: if by_activity {
                    ThreadOrder::Activity
                } else {
                    ThreadOrder::Created
                },
            },
            Self::Messages(thread, context) => List::Messages {
                thread_id: ThreadId(Uuid::from_u128(thread)),
                view: if context {
                    HistoryView::Context
                } else {
                    HistoryView::Full
                },
            },
        }
    }
}
