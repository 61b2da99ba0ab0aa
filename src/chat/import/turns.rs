//! The second reading of an input: lines put together to whole turns.

use std::collections::HashMap;

use super::{
    ImportError, ImportedTurn, Plan, Rules,
    place::{Digest, Reader},
};
use crate::chat::model::{Message, Outcome, Role};

/// Puts the lines of a checked input together.
pub struct Turns<'a> {
    reader: Reader,
    plan: &'a Plan,
    open: HashMap<Digest, ImportedTurn>,
    messages: u64,
}

impl<'a> Turns<'a> {
    /// Begins with the first line of the input that the plan was made from.
    #[must_use]
    pub fn new(rules: Rules, plan: &'a Plan) -> Self {
        Self {
            reader: Reader::new(rules),
            plan,
            open: HashMap::new(),
            messages: 0,
        }
    }

    /// Whether everything came by that the plan was made from.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.open.is_empty() && self.messages == self.plan.messages
    }

    /// Reads the next line, and gives the turn that ends with it.
    ///
    /// # Errors
    /// When the line cannot be imported.
    pub fn line(&mut self, text: &[u8]) -> Result<Option<ImportedTurn>, ImportError> {
        let Some(placed) = self.reader.read(text)? else {
            return Ok(None);
        };
        let turn = self.open.entry(placed.thread).or_insert_with(|| ImportedTurn {
            line: placed.line,
            key: placed.key,
            thread_id: placed.thread_id,
            thread_created_at: placed.thread_created_at,
            messages: Vec::new(),
        });
        turn.messages.push(placed.message);
        self.messages += 1;
        if !self.plan.ends(placed.line) {
            return Ok(None);
        }
        let mut turn = self.open.remove(&placed.thread);
        if let Some(turn) = &mut turn {
            mark_stopped(&mut turn.messages);
        }
        Ok(turn)
    }
}

/// The last assistant message of a stopped turn is the one that was stopped, whether or not the input says so.
fn mark_stopped(messages: &mut [Message]) {
    let last = messages
        .iter_mut()
        .rfind(|message| message.role == Role::Assistant);
    if let Some(last) = last {
        last.stopped = last
            .turn
            .as_ref()
            .is_some_and(|turn| turn.outcome == Outcome::Stopped);
    }
}
