//! The slice: threads, turns and pages, with every rule of theirs, and nothing of HTTP, GraphQL or SQL.

pub mod clock;
pub mod content;
pub mod context;
pub mod cursor;
pub mod error;
pub mod export;
pub mod gateway;
pub mod id;
pub mod import;
pub mod json;
pub mod model;
pub mod page;
pub mod scope;
pub mod store;
pub mod turn;
