//! What the model is given: the newest whole turns that fit, with every tool call answered.

use std::collections::HashMap;

use super::{
    content::{Content, ToolSide},
    id::MessageId,
    model::{Message, Role},
};

/// What the model is given of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// The summary of the newest boundary.
    pub summary: Option<String>,
    /// Whole turns, oldest first, less what [`ContextMessage`] leaves out.
    pub messages: Vec<ContextMessage>,
    /// The sum of what the messages said they cost; none when one of them did not say.
    pub tokens: Option<i64>,
    /// Older turns after the boundary, or its summary, did not fit.
    pub truncated: bool,
    /// The boundary this was read under.
    pub boundary_id: Option<MessageId>,
}

/// A message as the model is given it: like the stored one, less the parts of tool calls without a result and of
/// results without a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextMessage {
    /// The stored message's id.
    pub id: MessageId,
    /// The turn that wrote it.
    pub turn_id: String,
    /// Who said it.
    pub role: Role,
    /// What was said.
    pub content: Content,
    /// Tokens it cost, when the agent said so.
    pub tokens: Option<i32>,
}

/// What the model has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Budget {
    /// Tokens, the summary's included.
    pub max_tokens: Option<i64>,
    /// Messages.
    pub max_messages: usize,
}

/// The newest boundary, as far as the context needs it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// The boundary, if there is one.
    pub boundary_id: Option<MessageId>,
    /// Its summary, if it has one.
    pub summary: Option<String>,
}

/// Fits the messages after a boundary, newest first, into a budget. `complete` says that nothing older after the
/// boundary was left unread; if something was, the oldest turn read may be a part and is left out.
#[must_use]
pub fn fit(newest_first: Vec<Message>, complete: bool, line: Line, budget: Budget) -> Context {
    let Line { boundary_id, summary } = line;
    let summary_tokens = summary.as_deref().map_or(0, |text| estimate(text.len()));
    if budget.max_tokens.is_some_and(|max| summary_tokens > max) {
        return Context {
            summary: None,
            messages: Vec::new(),
            tokens: Some(0),
            truncated: true,
            boundary_id,
        };
    }
    let mut room = Room {
        tokens: budget.max_tokens.map(|max| max - summary_tokens),
        messages: budget.max_messages,
    };
    let turns = turns(newest_first, complete);
    let mut truncated = !complete;
    let mut kept: Vec<Message> = Vec::new();
    for turn in turns {
        if !room.take(&turn) {
            truncated = true;
            break;
        }
        kept.extend(turn);
    }
    kept.reverse();
    let messages = pair_tools(kept);
    let tokens = messages.iter().map(|message| message.tokens.map(i64::from)).sum();
    Context {
        summary,
        messages,
        tokens,
        truncated,
        boundary_id,
    }
}

/// Tokens of so many bytes of text: one for every four begun.
fn estimate(bytes: usize) -> i64 {
    i64::try_from(bytes.div_ceil(4)).unwrap_or(i64::MAX)
}

struct Room {
    tokens: Option<i64>,
    messages: usize,
}

impl Room {
    /// Takes a whole turn, or says that it does not fit.
    fn take(&mut self, turn: &[Message]) -> bool {
        let cost: i64 = turn
            .iter()
            .map(|message| {
                message
                    .tokens
                    .map_or_else(|| estimate(message.content.as_str().len()), i64::from)
            })
            .sum();
        if turn.len() > self.messages || self.tokens.is_some_and(|left| cost > left) {
            return false;
        }
        self.messages -= turn.len();
        self.tokens = self.tokens.map(|left| left - cost);
        true
    }
}

/// Groups messages, newest first, by their turn. The oldest turn is left out when it may not be whole.
fn turns(newest_first: Vec<Message>, complete: bool) -> Vec<Vec<Message>> {
    let mut turns: Vec<Vec<Message>> = Vec::new();
    for message in newest_first {
        match turns
            .last_mut()
            .filter(|turn| turn_id(&turn[0]) == turn_id(&message))
        {
            Some(turn) => turn.push(message),
            None => turns.push(vec![message]),
        }
    }
    if !complete {
        turns.pop();
    }
    turns
}

fn turn_id(message: &Message) -> Option<&str> {
    message.turn.as_ref().map(|turn| turn.id.as_str())
}

/// Leaves out the parts of calls without a result and of results without a call before them, and messages that
/// are left without parts.
fn pair_tools(messages: Vec<Message>) -> Vec<ContextMessage> {
    let mut unanswered: HashMap<String, Vec<(usize, usize)>> = HashMap::new();
    let mut keep: Vec<Vec<bool>> = Vec::with_capacity(messages.len());
    for (at, message) in messages.iter().enumerate() {
        let parts = message.content.parts();
        keep.push(vec![true; parts.len()]);
        for (index, part) in parts.iter().enumerate() {
            match part.tool() {
                None => {}
                Some((ToolSide::Call, call)) => {
                    keep[at][index] = false;
                    unanswered.entry(call).or_default().push((at, index));
                }
                Some((ToolSide::Result, call)) => match unanswered.get_mut(&call).and_then(Vec::pop) {
                    Some((called_at, called_index)) => keep[called_at][called_index] = true,
                    None => keep[at][index] = false,
                },
            }
        }
    }
    messages
        .into_iter()
        .zip(keep)
        .filter_map(|(message, keep)| given(message, &keep))
        .collect()
}

fn given(message: Message, keep: &[bool]) -> Option<ContextMessage> {
    let content = match (keep.contains(&true), keep.contains(&false)) {
        (false, _) => return None,
        (true, false) => message.content,
        (true, true) => message.content.keep_parts(keep),
    };
    Some(ContextMessage {
        id: message.id,
        turn_id: message.turn?.id,
        role: message.role,
        content,
        tokens: message.tokens,
    })
}
