//! A command of the real binary, run to its end.

use std::io::Write;
use std::process::{Command, Stdio};
use std::thread;

use super::{Database, process};

/// What a command did.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// Runs a command with something on its standard input.
    pub fn with_input(mut command: Command, input: &[u8]) -> Self {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().expect("piped");
        let input = input.to_owned();
        // A command that fails early does not read it all.
        let writer = thread::spawn(move || stdin.write_all(&input));
        let output = child.wait_with_output().unwrap();
        let _ = writer.join().unwrap();
        Self {
            code: output.status.code().expect("it was not killed"),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub fn new(command: Command) -> Self {
        Self::with_input(command, b"")
    }

    /// Runs `threadline` over a database.
    pub fn threadline(database: &Database, arguments: &[&str], input: &str) -> Self {
        let mut command = process::threadline(database);
        command.args(arguments);
        Self::with_input(command, input.as_bytes())
    }

    /// The same, when it did what it was asked.
    pub fn ok(self) -> Self {
        assert_eq!(self.code, 0, "{}", self.err);
        self
    }

    /// What it said, when it refused.
    pub fn refused(self, code: i32) -> String {
        assert_eq!(self.code, code, "{}{}", self.out, self.err);
        assert!(self.err.contains("error: "), "{}", self.err);
        self.err
    }
}

/// Imports lines and says what the command said. It waits long for others: a busy machine with a slow build must not
/// look like a database that hangs.
pub fn import(database: &Database, lines: &str) -> Ran {
    let patient = ["--database-lock-timeout=60s", "--database-acquire-timeout=60s"];
    Ran::threadline(database, &[&["import", "-"][..], &patient].concat(), lines)
}

/// Exports everything.
pub fn export(database: &Database) -> String {
    Ran::threadline(database, &["export"], "").ok().out
}
