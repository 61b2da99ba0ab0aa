//! The tests of Threadline, in one binary. `tests/run` runs them on both databases.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod compaction;
mod content;
mod context;
mod cursors;
mod history;
mod layering;
mod reset;
mod rest;
mod support;
mod threads;
mod turns;
