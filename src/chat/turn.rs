//! Turns: messages that are stored together or not at all.

use super::{
    content::Content,
    error::{Error, Result},
    id,
    json::Json,
    model::{BeganUnder, Outcome, Role, ThreadKey},
};

/// The most messages a turn may have.
pub(super) const MAX_MESSAGES: usize = 100;

/// How large what is written may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteLimits {
    /// Bytes of JSON of one message's content.
    pub message_bytes: usize,
    /// Bytes of JSON of all contents of a turn.
    pub turn_bytes: usize,
}

/// A turn as a caller hands it in, unchecked.
#[derive(Clone, Debug)]
pub struct TurnDraft {
    /// The thread; its first turn creates it.
    pub key: ThreadKey,
    /// The caller's id of the turn.
    pub turn_id: String,
    /// How it ended; `None` is a failed turn.
    pub outcome: Option<Outcome>,
    /// Under which boundary it began.
    pub began: BeganUnder,
    /// What was said, in order.
    pub messages: Vec<MessageDraft>,
}

/// A message as a caller hands it in, unchecked.
#[derive(Clone, Debug)]
pub struct MessageDraft {
    /// Who said it.
    pub role: Role,
    /// What was said.
    pub content: Json,
    /// Tokens it cost.
    pub tokens: Option<i32>,
}

/// A turn that may be stored: everything about it that does not need the database was checked.
#[derive(Clone, Debug)]
pub struct NewTurn {
    /// The thread.
    pub key: ThreadKey,
    /// The caller's id of the turn.
    pub turn_id: String,
    /// How it ended; `None` is a failed turn, of which nothing is stored.
    pub outcome: Option<Outcome>,
    /// Under which boundary it began.
    pub began: BeganUnder,
    /// What was said, in order.
    pub messages: Vec<NewMessage>,
}

/// A message of a [`NewTurn`].
#[derive(Clone, Debug)]
pub struct NewMessage {
    /// Who said it.
    pub role: Role,
    /// What was said.
    pub content: Content,
    /// Tokens it cost.
    pub tokens: Option<i32>,
    /// The person stopped the turn while this was being written.
    pub stopped: bool,
}

impl NewTurn {
    /// Checks a turn and marks what was stopped.
    ///
    /// # Errors
    /// [`Error::BadInput`] naming the place of what is wrong.
    pub fn new(draft: TurnDraft, limits: WriteLimits) -> Result<Self> {
        id::check_name("turnId", &draft.turn_id)?;
        // A turn may have failed before anything was said.
        let least = usize::from(draft.outcome.is_some());
        if !(least..=MAX_MESSAGES).contains(&draft.messages.len()) {
            return Err(Error::BadInput(format!(
                "a turn has 1 to {MAX_MESSAGES} messages"
            )));
        }
        let mut messages = Vec::with_capacity(draft.messages.len());
        for (index, message) in draft.messages.into_iter().enumerate() {
            messages.push(NewMessage::new(message, &format!("messages[{index}]"), limits)?);
        }
        let bytes: usize = messages
            .iter()
            .map(|message| message.content.as_str().len())
            .sum();
        if bytes > limits.turn_bytes {
            return Err(Error::BadInput(format!(
                "the turn's contents are {bytes} bytes of JSON, at most {} are kept",
                limits.turn_bytes
            )));
        }
        let mut turn = Self {
            key: draft.key,
            turn_id: draft.turn_id,
            outcome: draft.outcome,
            began: draft.began,
            messages,
        };
        turn.check_silence()?;
        turn.mark_stopped();
        Ok(turn)
    }

    /// What makes two turns of one id the same: outcome, roles, tokens, order and content.
    #[must_use]
    pub fn body_hash(&self) -> [u8; 16] {
        let said = self
            .messages
            .iter()
            .map(|message| (message.role, message.tokens, &message.content));
        body_hash(self.outcome.unwrap_or(Outcome::Completed), said)
    }

    fn check_silence(&self) -> Result<()> {
        let silent = |message: &NewMessage| message.role == Role::Assistant && message.content.is_silent();
        match self.messages.iter().position(silent) {
            Some(index) if self.outcome != Some(Outcome::Stopped) => Err(Error::BadInput(format!(
                "messages[{index}] is an ASSISTANT message that says nothing: that is kept only of a STOPPED turn"
            ))),
            _ => Ok(()),
        }
    }

    fn mark_stopped(&mut self) {
        if self.outcome == Some(Outcome::Stopped)
            && let Some(last) = self
                .messages
                .iter_mut()
                .rfind(|message| message.role == Role::Assistant)
        {
            last.stopped = true;
        }
    }
}

impl NewMessage {
    fn new(draft: MessageDraft, place: &str, limits: WriteLimits) -> Result<Self> {
        if draft.tokens.is_some_and(|tokens| tokens < 0) {
            return Err(Error::BadInput(format!("{place}.tokens is 0 or more")));
        }
        let content = Content::new(&draft.content, &format!("{place}.content"), limits.message_bytes)?;
        Ok(Self {
            role: draft.role,
            content,
            tokens: draft.tokens,
            stopped: false,
        })
    }
}

/// The hash of a turn's body. Content is hashed as its compact text, so white space and the spelling of escapes
/// do not count; key order and digits do.
pub fn body_hash<'a>(
    outcome: Outcome,
    said: impl IntoIterator<Item = (Role, Option<i32>, &'a Content)>,
) -> [u8; 16] {
    let mut hash = blake3::Hasher::new();
    hash.update(&[match outcome {
        Outcome::Completed => 0,
        Outcome::Stopped => 1,
    }]);
    for (role, tokens, content) in said {
        hash.update(&[match role {
            Role::User => 0,
            Role::Assistant => 1,
            Role::Tool => 2,
            Role::System => 3,
        }]);
        hash.update(&tokens.map_or(-1, i64::from).to_le_bytes());
        hash.update(&(content.as_str().len() as u64).to_le_bytes());
        hash.update(content.as_str().as_bytes());
    }
    first_16(&hash.finalize())
}

/// The 16 bytes that a turn id is kept under, whatever its length.
#[must_use]
pub fn turn_key(turn_id: &str) -> [u8; 16] {
    first_16(&blake3::hash(turn_id.as_bytes()))
}

fn first_16(hash: &blake3::Hash) -> [u8; 16] {
    let (first, _) = hash
        .as_bytes()
        .split_first_chunk()
        .expect("a BLAKE3 hash has 32 bytes");
    *first
}
