//! Threadline
fn main() {}
