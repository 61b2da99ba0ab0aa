//! The `threadline` command.

use std::process::ExitCode;

use mimalloc::MiMalloc;
use threadline::cli;

/// A page is some thousand small allocations: a fifth of its instructions with the system's allocator.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    cli::main()
}
