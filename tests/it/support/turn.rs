//! Turns to append.

use serde_json::{Value, json};

/// Whose thread.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub agent: String,
    pub channel: String,
    pub person: String,
}

impl Key {
    pub fn new(agent: &str, channel: &str, person: &str) -> Self {
        Self {
            agent: agent.to_owned(),
            channel: channel.to_owned(),
            person: person.to_owned(),
        }
    }

    /// The thread of a person with the agent `support` on the widget.
    pub fn of(person: &str) -> Self {
        Self::new("support", "widget", person)
    }

    pub fn json(&self) -> Value {
        json!({ "agentId": self.agent, "channel": self.channel, "personId": self.person })
    }
}

/// A turn, built up message by message.
#[derive(Clone, Debug)]
pub struct Turn {
    input: Value,
}

impl Turn {
    pub fn new(turn_id: &str) -> Self {
        Self {
            input: json!({ "turnId": turn_id, "messages": [] }),
        }
    }

    /// A turn of texts, a person's and an agent's in turns.
    pub fn of_texts(turn_id: &str, texts: &[&str]) -> Self {
        let roles = ["USER", "ASSISTANT"].into_iter().cycle();
        let said = texts.iter().zip(roles);
        said.fold(Self::new(turn_id), |turn, (text, role)| turn.says(role, text))
    }

    pub fn says(self, role: &str, text: &str) -> Self {
        self.with(role, json!({ "parts": [text_part(text)] }))
    }

    pub fn with_parts(self, role: &str, parts: Value) -> Self {
        self.with(role, json!({ "parts": parts }))
    }

    pub fn with(mut self, role: &str, content: Value) -> Self {
        let messages = self.input["messages"].as_array_mut().expect("begun as a list");
        messages.push(json!({ "role": role, "content": content }));
        self
    }

    /// Says what the last message cost.
    pub fn costing(mut self, tokens: impl Into<Value>) -> Self {
        let messages = self.input["messages"].as_array_mut().expect("begun as a list");
        messages.last_mut().expect("a message")["tokens"] = tokens.into();
        self
    }

    pub fn stopped(self) -> Self {
        self.ending("STOPPED")
    }

    pub fn failed(self) -> Self {
        self.ending("FAILED")
    }

    pub fn ending(mut self, outcome: &str) -> Self {
        self.input["outcome"] = outcome.into();
        self
    }

    /// The boundary the thread had when the turn began; `None` says there was none.
    pub fn began_under(mut self, boundary: Option<&str>) -> Self {
        self.input["boundaryId"] = boundary.into();
        self
    }

    pub fn id(&self) -> &str {
        self.input["turnId"].as_str().expect("begun with an id")
    }

    pub fn messages(&self) -> &[Value] {
        self.input["messages"].as_array().expect("begun as a list")
    }

    pub fn input(&self, key: &Key) -> Value {
        let mut input = self.input.clone();
        input["thread"] = key.json();
        input
    }
}

pub fn text_part(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}
