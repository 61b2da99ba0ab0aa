//! Migrate.
fn main() {}
