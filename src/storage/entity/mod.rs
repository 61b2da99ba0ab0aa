//! The rows, and the only finders there are: each names the team, or a thread that was found by its team.

pub mod chat;
pub mod message;
pub mod secret;
pub mod turn;
