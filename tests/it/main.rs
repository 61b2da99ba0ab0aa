//! The tests of Threadline, in one binary. `tests/run` runs them on both databases.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod attacks;
mod audit;
mod auth;
mod cli;
mod clock;
mod compaction;
mod config;
mod connections;
mod content;
mod context;
mod cors;
mod cursors;
mod documents;
mod faults;
mod graphiql;
mod headers;
mod history;
mod http;
mod import;
mod layering;
mod migrations;
mod node;
mod observe;
mod process;
mod readme;
mod reset;
mod rest;
mod schema;
mod schemathesis;
mod state_machine;
mod support;
mod threads;
mod turns;
mod variables;
