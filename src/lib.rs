//! Threadline, the chat store for AI agents.
//!
//! A request comes in by [`http`], is resolved by [`graphql`] (or straight by REST) against the one door,
//! [`chat::gateway::Gateway`], which holds the rules and asks a [`chat::store::Store`] for rows; [`storage`] is
//! that store over PostgreSQL or SQLite.

pub mod chat;
pub mod cli;
pub mod config;
pub mod graphql;
pub mod http;
pub mod storage;
pub mod telemetry;
