//! `threadline demo`: sample data that looks like a product's.

mod content;
mod script;
mod shape;
mod texts;

use anyhow::{Context, Result};
use chrono::{DateTime, TimeDelta, Utc};
use indicatif::HumanCount;

use super::{
    batches::{Mode, Team},
    open,
    progress::{Progress, Unit},
    settings::Settings,
};
use crate::{
    chat::{clock::Clock, gateway::Gateway, scope::Scope},
    config::ConfigError,
};
use script::Script;

/// How far back the sample goes.
const SPAN: TimeDelta = TimeDelta::weeks(6);

/// Fill the database with sample threads
///
/// Agents, channels and persons with weeks of turns: tool calls, files, references, stopped turns, resets and
/// compactions. The same numbers and seed make the same data, so a second run adds nothing; another seed adds more
/// beside it.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// How many messages
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(1..))]
    messages: u64,
    /// In how many threads [default: one for 25 messages]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    threads: Option<u64>,
    /// How many of the messages one long autonomous thread has [default: a fifth]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    longest: Option<u64>,
    /// What the data is drawn from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

impl Args {
    /// The sample of `serve --demo`.
    pub(super) const fn small() -> Self {
        Self {
            messages: 400,
            threads: None,
            longest: None,
            seed: 1,
        }
    }

    fn sizes(&self) -> Result<Sizes> {
        let threads = self
            .threads
            .unwrap_or((self.messages / 25).max(3))
            .min(self.messages);
        let others = threads - 1;
        let longest = match self.longest {
            _ if others == 0 => self.messages,
            Some(longest) => longest,
            None => (self.messages / 5).clamp(1, self.messages - others),
        };
        if self.messages < longest + others {
            let refused = format!(
                "{} messages are too few for a thread of {longest} and {others} others: ask for fewer threads, a shorter --longest or more --messages",
                self.messages
            );
            return Err(ConfigError::Refused(refused).into());
        }
        Ok(Sizes {
            messages: self.messages,
            threads,
            longest,
        })
    }
}

/// How much is made.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    messages: u64,
    threads: u64,
    longest: u64,
}

pub(super) async fn run(settings: &Settings, args: &Args) -> Result<()> {
    args.sizes()?;
    let clock = Clock::default();
    let gateway = open::gateway(settings, &clock).await?;
    let new = fill(&gateway, &clock, args).await?;
    if new == 0 {
        eprintln!("all of it is there already; another --seed adds more");
    } else {
        eprintln!(
            "{} messages in {} new turns and boundaries",
            HumanCount(args.messages),
            HumanCount(new)
        );
    }
    Ok(())
}

/// Puts the sample into a database and says how many turns and boundaries were new.
pub(super) async fn fill(gateway: &Gateway, clock: &Clock, args: &Args) -> Result<u64> {
    let sizes = args.sizes()?;
    let start = start(gateway, clock, sizes, args.seed).await?;
    let script = Script::new(sizes, args.seed, start);
    let team = Team {
        gateway,
        scope: &Scope::local(),
    };
    let progress = Progress::new("making the sample", sizes.messages, Unit::Messages);
    team.import(Mode::Write, &progress, move |sink| {
        script.play(|turn| sink.push(turn));
        Ok(())
    })
    .await
    .context("the sample cannot be stored beside what is there; another --seed may fit")
}

/// When the sample begins. One that was begun before goes on at the times it had.
async fn start(gateway: &Gateway, clock: &Clock, sizes: Sizes, seed: u64) -> Result<DateTime<Utc>> {
    let key = script::longest_key(sizes, seed);
    let before = gateway.thread_by_key(&Scope::local(), &key).await?;
    Ok(before.map_or_else(|| clock.now() - SPAN, |thread| thread.created_at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(messages: u64, threads: Option<u64>, longest: Option<u64>) -> Args {
        Args {
            messages,
            threads,
            longest,
            seed: 1,
        }
    }

    #[test]
    fn sizes_fit_the_number_of_messages_or_are_refused() {
        for messages in 1..60 {
            let sizes = args(messages, None, None).sizes().unwrap();
            assert!(
                sizes.longest + sizes.threads - 1 <= messages,
                "{messages}: {sizes:?}"
            );
        }
        let sizes = args(1_000_000, Some(2_000), Some(500_000)).sizes().unwrap();
        assert_eq!((sizes.threads, sizes.longest), (2_000, 500_000));
        assert!(args(10, Some(5), Some(7)).sizes().is_err());
        assert!(args(10, Some(11), None).sizes().is_ok());
    }
}
