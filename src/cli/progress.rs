//! How far a long command is: a bar on a terminal, a line now and then elsewhere.

use std::{
    io::{self, IsTerminal},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressStyle};

/// How long nothing is printed where there is no terminal.
const QUIET: Duration = Duration::from_secs(5);

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Bytes,
    Messages,
}

/// A number with the word for what is counted.
pub(super) fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", HumanCount(number), if number == 1 { one } else { many })
}

/// The progress of one step, on standard error.
pub(super) struct Progress {
    what: &'static str,
    unit: Unit,
    total: Option<u64>,
    done: AtomicU64,
    shown: Shown,
}

enum Shown {
    Bar(ProgressBar),
    Lines(Mutex<Instant>),
}

impl Progress {
    /// Without a total it only counts.
    pub(super) fn new(what: &'static str, total: impl Into<Option<u64>>, unit: Unit) -> Self {
        let total = total.into();
        let shown = if io::stderr().is_terminal() {
            Shown::Bar(bar(what, total, unit))
        } else {
            Shown::Lines(Mutex::new(Instant::now()))
        };
        Self {
            what,
            unit,
            total,
            done: AtomicU64::new(0),
            shown,
        }
    }

    pub(super) fn advance(&self, by: u64) {
        let done = self.done.fetch_add(by, Ordering::Relaxed) + by;
        match &self.shown {
            Shown::Bar(bar) => bar.set_position(done),
            Shown::Lines(last) => {
                let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
                if last.elapsed() >= QUIET {
                    *last = Instant::now();
                    eprintln!("{}", self.line(done));
                }
            }
        }
    }

    fn line(&self, done: u64) -> String {
        let count = |number: u64| match self.unit {
            Unit::Bytes => HumanBytes(number).to_string(),
            Unit::Messages => HumanCount(number).to_string(),
        };
        let name = match self.unit {
            Unit::Bytes => "",
            Unit::Messages => " messages",
        };
        let what = self.what;
        match self.total {
            None => format!("{what}: {}{name}", count(done)),
            Some(total) => {
                let percent = done.saturating_mul(100) / total.max(1);
                format!("{what}: {} of {}{name} ({percent} %)", count(done), count(total))
            }
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Shown::Bar(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }
}

fn bar(what: &'static str, total: Option<u64>, unit: Unit) -> ProgressBar {
    let (done, all) = match unit {
        Unit::Bytes => ("{bytes}", "{total_bytes}"),
        Unit::Messages => ("{human_pos}", "{human_len} messages"),
    };
    let (template, bar) = match total {
        None => (format!("{{msg}} {{spinner}} {done}"), ProgressBar::no_length()),
        Some(total) => (
            format!("{{msg}} {{bar:40}} {done} of {all}, {{eta}} left"),
            ProgressBar::new(total),
        ),
    };
    let style = ProgressStyle::with_template(&template).expect("the templates are constants");
    let bar = bar.with_style(style).with_message(what);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

#[cfg(test)]
mod tests {
    use super::{Progress, Unit};

    #[test]
    fn a_line_says_how_far_it_is() {
        let progress = Progress::new("importing", 200_000, Unit::Messages);
        assert_eq!(
            progress.line(50_000),
            "importing: 50,000 of 200,000 messages (25 %)"
        );
        let none = Progress::new("checking", 0, Unit::Bytes);
        assert_eq!(none.line(0), "checking: 0 B of 0 B (0 %)");
        let unknown = Progress::new("exporting", None, Unit::Messages);
        assert_eq!(unknown.line(1_000), "exporting: 1,000 messages");
    }
}
