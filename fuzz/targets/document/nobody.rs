//! A store in which there is nothing.

use async_trait::async_trait;
use threadline::chat::{
    error::{Error, Result},
    id::{MessageId, ThreadId},
    import::ImportedTurn,
    model::{Message, Thread, ThreadKey},
    page::Cut,
    store::{AgentRange, Appended, Drawn, MessageRange, NewLine, Store, ThreadFilter, ThreadRange},
    turn::NewTurn,
};

pub struct Nobody;

#[async_trait]
impl Store for Nobody {
    async fn ready(&self) -> Result<()> {
        Ok(())
    }

    async fn cursor_secret(&self) -> Result<Vec<u8>> {
        Ok(b"a secret that nobody guesses".to_vec())
    }

    async fn maintain(&self) -> Result<()> {
        Ok(())
    }

    async fn threads_by_id(&self, _: &str, _: &[ThreadId]) -> Result<Vec<Thread>> {
        Ok(Vec::new())
    }

    async fn thread_by_key(&self, _: &str, _: &ThreadKey) -> Result<Option<Thread>> {
        Ok(None)
    }

    async fn threads(&self, _: &str, range: ThreadRange) -> Result<Cut<Thread>> {
        Ok(Cut::new(range.extent))
    }

    async fn threads_after(&self, _: &str, _: Option<ThreadId>, _: &ThreadFilter) -> Result<Vec<Thread>> {
        Ok(Vec::new())
    }

    async fn agent_messages(&self, _: &str, range: AgentRange) -> Result<Cut<Message>> {
        Ok(Cut::new(range.extent))
    }

    async fn messages(&self, _: &str, ranges: Vec<MessageRange>) -> Result<Vec<Cut<Message>>> {
        Ok(ranges.iter().map(|range| Cut::new(range.extent)).collect())
    }

    async fn messages_by_id(&self, _: &str, _: Vec<(Thread, MessageId)>) -> Result<Vec<Message>> {
        Ok(Vec::new())
    }

    async fn append(&self, _: &str, _: NewTurn) -> Result<Appended> {
        Ok(Appended {
            thread: None,
            messages: Vec::new(),
            replayed: false,
        })
    }

    async fn draw(&self, _: &str, _: ThreadId, _: NewLine) -> Result<Drawn> {
        Err(Error::NotFound("the thread"))
    }

    async fn import(&self, _: &str, _: Vec<ImportedTurn>, _: bool) -> Result<u64> {
        Ok(0)
    }
}
