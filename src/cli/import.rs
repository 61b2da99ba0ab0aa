//! `threadline import`

use std::{path::PathBuf, sync::Arc};

use anyhow::{Context, Result, bail};

use super::{
    batches::{Mode, Team},
    input::Input,
    open,
    progress::{Progress, Unit, counted},
    settings::Settings,
};
use crate::chat::{
    clock::Clock,
    import::{Check, Plan, Rules, Turns},
    scope::{DEFAULT_TEAM, Scope},
};

/// JSON may spell a byte of content with six, and a line holds more than its content.
const LINE_BYTES_FOR_A_CONTENT_BYTE: usize = 6;
const LINE_BYTES_BESIDE_CONTENT: usize = 1 << 20;

const LINES: &str = r#"A line is a thread or a message, as `threadline export` writes them:

  {"type": "thread", "id"?, "agentId", "channel", "personId", "createdAt"?}
  {"type": "message", "id"?, "agentId", "channel", "personId", "turnId"?,
   "role", "content" or "text", "tokens"?, "outcome"?, "stopped"?, "late"?,
   "boundary"?, "createdAt"?}

Every setting is a flag here as well: see `threadline --help`."#;

/// Import threads and messages from JSON Lines
///
/// The whole input is checked before the first write: a file with a bad line changes nothing. What is there already
/// is left as it is, so that an interrupted import is finished by running it again.
///
/// A line without an id needs a createdAt. The lines of a turn stand together; lines of other threads may lie
/// between them.
#[derive(Debug, clap::Args)]
#[command(after_long_help = LINES)]
pub(super) struct Args {
    /// The team that they are for
    #[arg(long, value_name = "ID", default_value = DEFAULT_TEAM, value_parser = Scope::admin_of)]
    team: Scope,
    /// The file, or - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(super) async fn run(settings: &Settings, args: &Args) -> Result<()> {
    let clock = Clock::default();
    let import = Import {
        input: Arc::new(Input::open(&args.file)?),
        rules: Rules::new(args.team.team_id(), settings.gateway.write, &clock),
        longest_line: longest_line(settings),
    };
    let plan = Arc::new(import.check()?);
    let gateway = open::gateway(settings, &clock).await?;
    let team = Team {
        gateway: &gateway,
        scope: &args.team,
    };
    import
        .turns(&team, &plan, Mode::Check)
        .await
        .context("nothing was imported")?;
    let new = import.turns(&team, &plan, Mode::Write).await?;
    let there = match plan.turns - new {
        0 => String::new(),
        there => format!("; {} there already", counted(there, "was", "were")),
    };
    let new = counted(new, "turn or boundary", "turns and boundaries");
    eprintln!("imported {new}{there}");
    Ok(())
}

fn longest_line(settings: &Settings) -> u64 {
    let content = settings.gateway.write.message_bytes * LINE_BYTES_FOR_A_CONTENT_BYTE;
    (content + LINE_BYTES_BESIDE_CONTENT) as u64
}

struct Import {
    input: Arc<Input>,
    rules: Rules,
    longest_line: u64,
}

impl Import {
    /// Reads everything once.
    fn check(&self) -> Result<Plan> {
        let progress = Progress::new("checking the lines", self.input.length(), Unit::Bytes);
        let mut check = Check::new(self.rules);
        let mut lines = self.input.lines(self.longest_line)?;
        let checked = || -> Result<Plan> {
            while let Some((line, bytes)) = lines.next()? {
                check.line(line)?;
                progress.advance(bytes);
            }
            Ok(check.finish()?)
        };
        checked().context("nothing was imported")
    }

    /// Reads everything again, into the gateway.
    async fn turns(&self, team: &Team<'_>, plan: &Arc<Plan>, mode: Mode) -> Result<u64> {
        let what = match mode {
            Mode::Check => "checking against the database",
            Mode::Write => "importing",
        };
        let progress = Progress::new(what, plan.messages, Unit::Messages);
        let (input, plan) = (Arc::clone(&self.input), Arc::clone(plan));
        let (rules, longest_line) = (self.rules, self.longest_line);
        team.import(mode, &progress, move |sink| {
            let mut turns = Turns::new(rules, &plan);
            let mut lines = input.lines(longest_line)?;
            while let Some((line, _)) = lines.next()? {
                let ended = turns.line(line)?;
                if ended.is_some_and(|turn| !sink.push(turn)) {
                    return Ok(());
                }
            }
            if !turns.is_complete() {
                bail!("the file was changed while it was read; run it again");
            }
            Ok(())
        })
        .await
    }
}
