//! The `threadline` command: the one place where the parts are put together.

mod admin;
mod batches;
mod config;
mod demo;
mod export;
mod flags;
mod import;
mod input;
mod migrate;
mod open;
mod open_files;
mod progress;
mod serve;
mod settings;
mod token;

use std::{
    env,
    io::{self, ErrorKind, Write},
    path::PathBuf,
    process::ExitCode,
};

use anyhow::{Context, Result};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use tokio::runtime::Runtime;

use crate::{
    config::{Config, ConfigError, Sources},
    graphql,
    telemetry::{self, Tracing},
};
use flags::SettingFlags;
use settings::Settings;

/// How a usage or settings error ends the process; clap ends it the same way.
const EXIT_USAGE: u8 = 2;

/// The stack of a worker: resolvers of a document as deep as the limits allow fit many times over.
const WORKER_STACK: usize = 8 << 20;

/// The chat store for AI agents: turns in, pages out, over GraphQL and REST.
#[derive(Parser)]
#[command(
    name = "threadline",
    version,
    about,
    max_term_width = 110,
    disable_help_subcommand = true
)]
#[command(after_help = "Without a command, threadline serves.\n\
    Settings come from flags over THREADLINE_… variables (and DATABASE_URL) over threadline.toml over the defaults.\n\
    `threadline --help` lists their flags, `threadline config` shows what is in force and where it came from.\n\
    Exit codes: 0 done, 1 failed, 2 wrong usage or settings.")]
struct Cli {
    /// The settings file, instead of threadline.toml in the working directory
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    settings: SettingFlags,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    Serve(serve::Args),
    /// Bring the database's tables up to date
    ///
    /// `serve` does this when it starts. Several may do it at once; a database of a newer release is refused.
    Migrate,
    Import(import::Args),
    Export(export::Args),
    Demo(demo::Args),
    Token(token::Args),
    /// Print every setting, its value and where it came from
    ///
    /// Secrets, and passwords in URLs, are shown as ***.
    Config,
    /// Print the GraphQL schema in the definition language
    Schema,
}

/// Runs the command that the process was started with.
#[must_use]
pub fn main() -> ExitCode {
    let cli = Cli::from_arg_matches(&command_line().get_matches()).unwrap_or_else(|error| error.exit());
    match cli.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", told(&error));
            match error.downcast_ref::<ConfigError>() {
                Some(_) => ExitCode::from(EXIT_USAGE),
                None => ExitCode::FAILURE,
            }
        }
    }
}

/// The arguments of every command. `threadline --help` and `threadline serve --help` list the settings; in the help
/// of the other commands they would bury what the command itself takes.
fn command_line() -> clap::Command {
    Cli::command().mut_subcommands(|command| match command.get_name() {
        "serve" => command,
        _ => flags::hidden(command)
            .after_help("Every setting is a flag here as well: see `threadline --help`."),
    })
}

/// An error and its causes, without those that only say again what was said.
fn told(error: &anyhow::Error) -> String {
    let mut told = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if told.is_empty() {
            told = cause;
        } else if !told.ends_with(&cause) {
            told = format!("{told}: {cause}");
        }
    }
    told
}

impl Cli {
    fn run(self) -> Result<()> {
        let config = Config::load(&Sources {
            file: self.config,
            variables: env::vars_os().collect(),
            flags: self.settings.0,
        })?;
        let settings = Settings::read(&config)?;
        let command = self.command.unwrap_or(Command::Serve(serve::Args::default()));
        let serving = matches!(command, Command::Serve(_));
        let traces = settings.traces.as_ref().filter(|_| serving);
        // Dropped last, outside of the runtime: it sends the last spans.
        let tracing = traces.map(Tracing::begin).transpose();
        let tracing = tracing.context("traces cannot be sent to otel.endpoint")?;
        telemetry::init(&settings.log, tracing.as_ref());
        match command {
            Command::Serve(args) => {
                serve::refuse_remote(&config, &settings)?;
                serve::refuse_every_page(&config, &settings)?;
                runtime()?.block_on(serve::run(settings, args))
            }
            Command::Migrate => runtime()?.block_on(migrate::run(&settings)),
            Command::Import(args) => runtime()?.block_on(import::run(&settings, &args)),
            Command::Export(args) => runtime()?.block_on(export::run(&settings, args)),
            Command::Demo(args) => runtime()?.block_on(demo::run(&settings, &args)),
            Command::Token(args) => print(&token::mint(&settings, args)?),
            Command::Config => print(&config::list(&config)),
            Command::Schema => print(&graphql::sdl(&graphql::schema())),
        }
    }
}

/// Prints a text; whoever stops reading it has seen enough.
fn print(text: &str) -> Result<()> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("standard output cannot be written"),
    }
}

fn runtime() -> Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_stack_size(WORKER_STACK)
        .build()
        .context("the threads of the server cannot be started")
}
