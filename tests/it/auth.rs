//! Who may do what: tokens, roles, and what belongs to others.

mod command;
mod jwks;
mod rates;
mod roles;
mod statements;
mod tenants;
mod tokens;
