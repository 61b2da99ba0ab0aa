//! What a test of a promise counted, for the README's table.

use std::env;
use std::fs::OpenOptions;
use std::io::Write;
use std::time::Instant;

use super::{Backend, Database};

/// Prints one line of figures, like `R8 sqlite: sequences=40, operations=812, wrong=0, seconds=3`, and appends it to
/// the file that TEST_FIGURES names.
pub fn report(promise: &str, database: &Database, began: Instant, figures: &[(&str, usize)]) {
    let backend = match database.backend {
        Backend::Sqlite => "sqlite",
        Backend::Postgres => "postgres",
    };
    let mut line = format!("{promise} {backend}: ");
    for (name, figure) in figures {
        line += &format!("{name}={figure}, ");
    }
    line += &format!("seconds={}", began.elapsed().as_secs());
    println!("{line}");
    if let Some(path) = env::var_os("TEST_FIGURES") {
        let file = OpenOptions::new().create(true).append(true).open(path);
        writeln!(file.unwrap(), "{line}").unwrap();
    }
}
