//! The tests of Threadline, in one binary. `tests/run` runs them on both databases.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

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
mod full_disk;
mod graphiql;
mod guard;
mod headers;
mod history;
mod http;
mod import;
mod layering;
mod migrations;
mod network;
mod node;
mod process;
mod readme;
mod reset;
mod rest;
mod schema;
mod state_machine;
mod support;
mod threads;
mod turns;
mod variables;
