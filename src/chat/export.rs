//! Threads and messages as the lines that an import reads: the same keys in the same order each time.

use chrono::{DateTime, SecondsFormat, Utc};

use super::{
    json::write_string,
    model::{Message, Thread, ThreadKey},
};

/// A thread's line, without its line end.
#[must_use]
pub fn thread_line(thread: &Thread) -> String {
    let mut line = LineWriter::new("thread");
    line.text("id", &thread.id.to_string());
    line.key(&thread.key);
    line.time("createdAt", thread.created_at);
    line.finish()
}

/// A message's line, without its line end. The content stands in it as it is stored.
#[must_use]
pub fn message_line(key: &ThreadKey, message: &Message) -> String {
    let mut line = LineWriter::new("message");
    line.text("id", &message.id.to_string());
    line.key(key);
    let turn = message.turn.as_ref();
    line.optional_text("turnId", turn.map(|turn| turn.id.as_str()));
    line.text("role", message.role.as_str());
    line.raw("content", message.content.as_str());
    line.raw(
        "tokens",
        &message
            .tokens
            .map_or("null".to_owned(), |tokens| tokens.to_string()),
    );
    line.optional_text("outcome", turn.map(|turn| turn.outcome.as_str()));
    line.raw("stopped", if message.stopped { "true" } else { "false" });
    line.raw("late", if message.late { "true" } else { "false" });
    match &message.boundary {
        None => line.raw("boundary", "null"),
        Some(boundary) => {
            let through = boundary.through.map(|id| id.to_string());
            let mut inner = LineWriter::default();
            inner.text("reason", boundary.reason.as_str());
            inner.optional_text("summary", boundary.summary());
            inner.optional_text("throughMessageId", through.as_deref());
            line.raw("boundary", &inner.finish());
        }
    }
    line.time("createdAt", message.created_at);
    line.finish()
}

/// Writes one object, a field at a time.
#[derive(Default)]
struct LineWriter(String);

impl LineWriter {
    fn new(kind: &str) -> Self {
        let mut line = Self::default();
        line.text("type", kind);
        line
    }

    fn raw(&mut self, name: &str, json: &str) {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        write_string(name, &mut self.0);
        self.0.push(':');
        self.0.push_str(json);
    }

    fn text(&mut self, name: &str, text: &str) {
        self.raw(name, "");
        write_string(text, &mut self.0);
    }

    fn optional_text(&mut self, name: &str, text: Option<&str>) {
        match text {
            Some(text) => self.text(name, text),
            None => self.raw(name, "null"),
        }
    }

    fn key(&mut self, key: &ThreadKey) {
        self.text("agentId", &key.agent_id);
        self.text("channel", &key.channel);
        self.text("personId", &key.person_id);
    }

    /// Microseconds always have six digits, so that the text of a time is one and the same.
    fn time(&mut self, name: &str, time: DateTime<Utc>) {
        self.text(name, &time.to_rfc3339_opts(SecondsFormat::Micros, true));
    }

    fn finish(mut self) -> String {
        self.0.push('}');
        self.0
    }
}
