//! Rows in PostgreSQL or SQLite, chosen by URL.

mod admission;
mod append;
mod connect;
mod draw;
pub mod entity;
mod error;
mod import;
mod partition;
mod pool;
mod probe;
mod read;
mod schema;
mod secrets;
mod sql_store;
mod write;

pub use connect::DatabaseSettings;
pub use sql_store::SqlStore;
