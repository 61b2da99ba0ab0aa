//! Turns into the store, many at a time.

use anyhow::{Result, anyhow};
use tokio::sync::mpsc;

use super::progress::Progress;
use crate::chat::{
    error::Error,
    gateway::Gateway,
    import::{ImportError, ImportedTurn},
    scope::Scope,
};

/// A batch is one transaction: large enough to be quick, small enough not to keep others from writing for long.
const BATCH_MESSAGES: usize = 2_000;
const BATCH_BYTES: usize = 4 << 20;

/// Whether turns are stored, or only looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Check,
    Write,
}

/// Collects turns until there are enough for a batch.
pub(super) struct Sink {
    batches: mpsc::Sender<Vec<ImportedTurn>>,
    turns: Vec<ImportedTurn>,
    messages: usize,
    bytes: usize,
}

impl Sink {
    /// Takes the next turn. False when nobody wants more.
    pub(super) fn push(&mut self, turn: ImportedTurn) -> bool {
        self.messages += turn.messages.len();
        self.bytes += turn
            .messages
            .iter()
            .map(|message| message.content.as_str().len())
            .sum::<usize>();
        self.turns.push(turn);
        if self.messages < BATCH_MESSAGES && self.bytes < BATCH_BYTES {
            return true;
        }
        self.flush()
    }

    fn flush(&mut self) -> bool {
        self.messages = 0;
        self.bytes = 0;
        self.batches
            .blocking_send(std::mem::take(&mut self.turns))
            .is_ok()
    }
}

/// A team's chats, to be filled.
pub(super) struct Team<'a> {
    pub(super) gateway: &'a Gateway,
    pub(super) scope: &'a Scope,
}

impl Team<'_> {
    /// Hands the turns that `produce` pushes to the gateway, while it makes the next ones. Says how many were new.
    pub(super) async fn import(
        &self,
        mode: Mode,
        progress: &Progress,
        produce: impl FnOnce(&mut Sink) -> Result<()> + Send + 'static,
    ) -> Result<u64> {
        let (batches, mut ready) = mpsc::channel(2);
        let producer = tokio::task::spawn_blocking(move || {
            let mut sink = Sink {
                batches,
                turns: Vec::new(),
                messages: 0,
                bytes: 0,
            };
            produce(&mut sink)?;
            sink.flush();
            Ok(())
        });
        let mut new = 0;
        while let Some(turns) = ready.recv().await {
            let messages: usize = turns.iter().map(|turn| turn.messages.len()).sum();
            new += self.import_batch(mode, turns).await?;
            progress.advance(messages as u64);
        }
        producer.await?.map(|()| new)
    }

    async fn import_batch(&self, mode: Mode, turns: Vec<ImportedTurn>) -> Result<u64> {
        let write = mode == Mode::Write;
        let refused = match self.gateway.import(self.scope, turns.clone(), write).await {
            Ok(new) => return Ok(new),
            Err(error @ (Error::Conflict(_) | Error::BadInput(_))) => error,
            Err(error) => return Err(anyhow!(error).context("run it again to go on where it stopped")),
        };
        // One of them is the culprit: found by asking for each alone, which only a failure pays for.
        for turn in turns {
            let line = turn.line;
            match self.gateway.import(self.scope, vec![turn], false).await {
                Err(what) if line > 0 => return Err(ImportError { line, what }.into()),
                Err(what) => return Err(what.into()),
                Ok(_) => {}
            }
        }
        Err(refused.into())
    }
}
