//! What can be seen of a server from outside: metrics, log lines, traces; and what cannot.

mod admin;
mod leaks;
mod logs;
mod metrics;
mod traces;
