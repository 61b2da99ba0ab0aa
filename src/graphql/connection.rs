//! Pages of lists.

use async_graphql::SimpleObject;

use super::{error::Field, message::MessageObject, thread::ThreadObject};
use crate::chat::{
    model::{Message, Thread},
    page::{Page, PageRequest},
};

/// A page of a list: oldest item first, and older pages behind `nextCursor`.
#[derive(SimpleObject)]
pub struct MessageConnection {
    /// Oldest first.
    items: Vec<MessageObject>,
    /// Pass it as `cursor` to read the page before this one, further back in time; null exactly when `hasMore` is
    /// false.
    next_cursor: Option<String>,
    /// Whether older items exist.
    has_more: bool,
}

/// A page of a list: oldest item first, and older pages behind `nextCursor`.
#[derive(SimpleObject)]
pub struct ThreadConnection {
    /// Oldest first.
    items: Vec<ThreadObject>,
    /// Pass it as `cursor` to read the page before this one, further back in time; null exactly when `hasMore` is
    /// false.
    next_cursor: Option<String>,
    /// Whether older items exist.
    has_more: bool,
}

/// The page that a field's arguments ask for.
pub fn page(limit: i32, cursor: Option<String>) -> PageRequest {
    PageRequest {
        limit: i64::from(limit),
        cursor,
    }
}

/// A page of messages as a field.
pub fn messages(page: Field<Page<Message>>) -> Field<MessageConnection> {
    page.map(|page| {
        page.map(
            |Page {
                 items,
                 next_cursor,
                 has_more,
             }| MessageConnection {
                items: items.into_iter().map(MessageObject).collect(),
                next_cursor,
                has_more,
            },
        )
    })
}

/// A page of threads as a field.
pub fn threads(page: Field<Page<Thread>>) -> Field<ThreadConnection> {
    page.map(|page| {
        page.map(
            |Page {
                 items,
                 next_cursor,
                 has_more,
             }| ThreadConnection {
                items: items.into_iter().map(ThreadObject).collect(),
                next_cursor,
                has_more,
            },
        )
    })
}
