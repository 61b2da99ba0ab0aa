//! The `threadline` command.

use std::process::ExitCode;

use threadline::cli;

fn main() -> ExitCode {
    cli::main()
}
