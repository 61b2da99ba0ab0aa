//! The first reading of an input: every line checked, by itself and against the others.

use std::collections::{HashMap, HashSet};

use super::{
    ImportError, Rules,
    order::{Line, Span},
    place::{Digest, Placed, Reader, digest},
};
use crate::chat::{
    id::MessageId,
    model::{Boundary, Outcome, Role, TurnRef},
    turn::MAX_MESSAGES,
};

/// Checks an input line by line.
pub struct Check {
    reader: Reader,
    turn_bytes: usize,
    open: HashMap<Digest, Open>,
    turns: HashSet<Digest>,
    threads: HashMap<Digest, Line>,
    plan: Plan,
}

/// What the first reading found out for the second.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// How many messages there are, boundaries included.
    pub messages: u64,
    /// How many turns and boundaries there are.
    pub turns: u64,
    /// A bit for each line that is a turn's last.
    ends: Vec<u64>,
}

/// A turn that may have more lines.
struct Open {
    turn: Digest,
    outcome: Outcome,
    span: Span,
    messages: usize,
    bytes: usize,
    last_line: u64,
    last_assistant: Option<(u64, Option<bool>)>,
}

impl Check {
    /// Begins with the first line.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        Self {
            reader: Reader::new(rules),
            turn_bytes: rules.limits.turn_bytes,
            open: HashMap::new(),
            turns: HashSet::new(),
            threads: HashMap::new(),
            plan: Plan::default(),
        }
    }

    /// Checks the next line.
    ///
    /// # Errors
    /// When it cannot be imported.
    pub fn line(&mut self, text: &[u8]) -> Result<(), ImportError> {
        let Some(placed) = self.reader.read(text)? else {
            return Ok(());
        };
        self.plan.messages += 1;
        match (&placed.message.turn, &placed.message.boundary) {
            (Some(turn), _) => self.said(&placed, turn),
            (None, Some(boundary)) => self.drawn(&placed, boundary),
            (None, None) => Ok(()),
        }
    }

    /// Checks what can only be known at the end.
    ///
    /// # Errors
    /// When turns of the input cannot lie in one thread together.
    pub fn finish(mut self) -> Result<Plan, ImportError> {
        for thread in self.open.keys().copied().collect::<Vec<_>>() {
            self.close(thread)?;
        }
        let wrong = self.threads.into_values().filter_map(|line| line.check().err());
        match wrong.min_by_key(|error| error.line) {
            Some(error) => Err(error),
            None => Ok(self.plan),
        }
    }

    /// A boundary stands for itself.
    fn drawn(&mut self, placed: &Placed, boundary: &Boundary) -> Result<(), ImportError> {
        self.close(placed.thread)?;
        self.threads
            .entry(placed.thread)
            .or_default()
            .draw(placed, boundary);
        self.plan.end(placed.line);
        Ok(())
    }

    fn said(&mut self, placed: &Placed, turn: &TurnRef) -> Result<(), ImportError> {
        let id = digest(&[&placed.thread, turn.id.as_bytes()]);
        if self.open.get(&placed.thread).is_none_or(|open| open.turn != id) {
            self.close(placed.thread)?;
            if !self.turns.insert(id) {
                return Err(ImportError::bad(
                    placed.line,
                    format!(
                        "turnId {:?} came before: the lines of a turn stand together",
                        turn.id
                    ),
                ));
            }
            let open = Open::new(id, turn.outcome, placed);
            self.open.insert(placed.thread, open);
        }
        let open = self
            .open
            .get_mut(&placed.thread)
            .expect("the turn was just opened");
        open.add(placed, turn.outcome, self.turn_bytes)
            .map_err(|what| ImportError::bad(placed.line, what))
    }

    fn close(&mut self, thread: Digest) -> Result<(), ImportError> {
        let Some(open) = self.open.remove(&thread) else {
            return Ok(());
        };
        if let (Outcome::Stopped, Some((line, Some(false)))) = (open.outcome, open.last_assistant) {
            return Err(ImportError::bad(
                line,
                "stopped is true on the last assistant message of a stopped turn",
            ));
        }
        self.threads.entry(thread).or_default().add(open.span);
        self.plan.end(open.last_line);
        Ok(())
    }
}

impl Open {
    fn new(turn: Digest, outcome: Outcome, placed: &Placed) -> Self {
        Self {
            turn,
            outcome,
            span: Span::of(placed),
            messages: 0,
            bytes: 0,
            last_line: placed.line,
            last_assistant: None,
        }
    }

    fn add(&mut self, placed: &Placed, outcome: Outcome, most_bytes: usize) -> Result<(), String> {
        let message = &placed.message;
        if outcome != self.outcome {
            return Err("outcome is another than on the turn's lines before".to_owned());
        }
        if self.messages > 0 && message.id <= MessageId(self.span.last) {
            return Err("the turn's message before has the same id or a later one".to_owned());
        }
        if message.created_at < self.span.ends {
            return Err("createdAt goes back inside the turn".to_owned());
        }
        self.messages += 1;
        self.bytes += message.content.as_str().len();
        if self.messages > MAX_MESSAGES {
            return Err(format!("the turn has more than {MAX_MESSAGES} messages"));
        }
        if self.bytes > most_bytes {
            return Err(format!("the turn's contents are over {most_bytes} bytes of JSON"));
        }
        if message.role == Role::Assistant {
            if let Some((line, Some(true))) = self.last_assistant {
                return Err(format!(
                    "line {line} says stopped, and here the turn goes on with an assistant message"
                ));
            }
            self.last_assistant = Some((placed.line, placed.stopped));
        }
        self.span.last = message.id.0;
        self.span.ends = message.created_at;
        self.last_line = placed.line;
        Ok(())
    }
}

impl Plan {
    fn end(&mut self, line: u64) {
        self.turns += 1;
        let (word, bit) = place(line);
        if self.ends.len() <= word {
            self.ends.resize(word + 1, 0);
        }
        self.ends[word] |= bit;
    }

    /// Whether a line is the last of its turn.
    pub(super) fn ends(&self, line: u64) -> bool {
        let (word, bit) = place(line);
        self.ends.get(word).is_some_and(|bits| bits & bit != 0)
    }
}

fn place(line: u64) -> (usize, u64) {
    let word = usize::try_from(line / 64).expect("a file of 2^38 lines is not read");
    (word, 1 << (line % 64))
}
