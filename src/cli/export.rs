//! `threadline export`

use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};

use anyhow::{Context, Result, bail};
use futures::{StreamExt, TryStreamExt, stream};

use super::{
    open,
    progress::{Progress, Unit, counted},
    settings::Settings,
};
use crate::chat::{
    clock::Clock,
    export,
    gateway::Gateway,
    id::ThreadId,
    model::{Message, Thread},
    scope::{DEFAULT_TEAM, Scope},
    store::ThreadFilter,
};

/// How many threads are begun ahead of the one that is written.
const AHEAD: usize = 4;

/// Export threads and messages as JSON Lines, to standard output
///
/// Oldest thread first, each with its messages from the oldest on, with ids, times and boundaries: what
/// `threadline import` reads. Importing an export into an empty database gives the same pages and ids.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The team whose threads they are
    #[arg(long, value_name = "ID", default_value = DEFAULT_TEAM, value_parser = Scope::admin_of)]
    team: Scope,
    /// Only this agent's threads
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// Only this thread
    #[arg(long, value_name = "ID")]
    thread: Option<ThreadId>,
    /// Only this person's threads
    #[arg(long, value_name = "ID")]
    person: Option<String>,
}

pub(super) async fn run(settings: &Settings, args: Args) -> Result<()> {
    let filter = ThreadFilter {
        agent_id: args.agent,
        channel: None,
        person_id: args.person,
        thread_id: args.thread,
    };
    let export = Export {
        gateway: open::gateway(settings, &Clock::default()).await?,
        scope: args.team,
    };
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let written = match export.threads(&filter, &mut out).await {
        // Whoever reads has seen enough.
        Err(error) if is_broken_pipe(&error) => return Ok(()),
        written => written?,
    };
    if written == 0 && filter != ThreadFilter::default() {
        bail!("no thread is as asked for; `threadline export` alone exports all there are");
    }
    eprintln!("exported {}", counted(written as u64, "thread", "threads"));
    Ok(())
}

struct Export {
    gateway: Gateway,
    scope: Scope,
}

impl Export {
    /// Writes every thread and says how many there were.
    async fn threads(&self, filter: &ThreadFilter, out: &mut impl Write) -> Result<usize> {
        let (mut after, mut threads) = (None, 0);
        // A bar and the lines would write over each other.
        let shown = !io::stdout().is_terminal();
        let progress = shown.then(|| Progress::new("exporting", None, Unit::Messages));
        loop {
            let next = self.gateway.export_threads(&self.scope, after, filter).await?;
            let Some(last) = next.last() else { break };
            after = Some(last.id);
            threads += next.len();
            let mut begun = stream::iter(next)
                .map(|thread| async move {
                    let page = self.gateway.export_messages(&self.scope, &thread, None).await?;
                    anyhow::Ok((thread, page))
                })
                .buffered(AHEAD);
            while let Some((thread, page)) = begun.try_next().await? {
                writeln!(out, "{}", export::thread_line(&thread))?;
                self.messages(&thread, page, out, progress.as_ref()).await?;
            }
        }
        out.flush().context("the export cannot be written")?;
        Ok(threads)
    }

    /// Writes a thread's messages, beginning with the page that was read already.
    async fn messages(
        &self,
        thread: &Thread,
        first: (Vec<Message>, bool),
        out: &mut impl Write,
        progress: Option<&Progress>,
    ) -> Result<()> {
        let (mut messages, mut has_more) = first;
        loop {
            for message in &messages {
                writeln!(out, "{}", export::message_line(&thread.key, message))?;
            }
            if let Some(progress) = progress {
                progress.advance(messages.len() as u64);
            }
            match messages.last() {
                Some(last) if has_more => {
                    let after = Some(last.id);
                    (messages, has_more) = self.gateway.export_messages(&self.scope, thread, after).await?;
                }
                _ => return Ok(()),
            }
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io = error.chain().find_map(|cause| cause.downcast_ref::<io::Error>());
    io.is_some_and(|io| io.kind() == ErrorKind::BrokenPipe)
}
