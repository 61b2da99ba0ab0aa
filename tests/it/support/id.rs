//! Ids of nothing.

use threadline::chat::clock::Clock;
use threadline::chat::id::{MessageId, ThreadId, at};
use uuid::Uuid;

/// An id as the server makes them, that nothing has.
pub fn unused() -> Uuid {
    at(Clock::default().now(), rand::random())
}

pub fn unused_thread() -> String {
    ThreadId(unused()).to_string()
}

pub fn unused_message() -> String {
    MessageId(unused()).to_string()
}
