//! The three lists, as GraphQL and REST ask for them.

use serde_json::{Value, json};

use super::client::ids;

/// A list that is read in pages.
#[derive(Clone, Debug)]
pub enum List {
    /// An agent's messages over all its threads.
    AgentMessages(String),
    /// An agent's threads; the text is further arguments, like `channel: "api", orderBy: ACTIVITY`.
    Threads(String, String),
    /// A thread's messages: agent, thread and view.
    Messages(String, String, &'static str),
}

impl List {
    pub fn of_agent(agent: &str) -> Self {
        Self::AgentMessages(agent.to_owned())
    }

    pub fn threads(agent: &str) -> Self {
        Self::Threads(agent.to_owned(), String::new())
    }

    pub fn threads_by(agent: &str, arguments: &str) -> Self {
        Self::Threads(agent.to_owned(), format!("{arguments}, "))
    }

    pub fn of_thread(agent: &str, thread: &str) -> Self {
        Self::Messages(agent.to_owned(), thread.to_owned(), "FULL")
    }

    pub fn context_of(agent: &str, thread: &str) -> Self {
        Self::Messages(agent.to_owned(), thread.to_owned(), "CONTEXT")
    }

    pub fn query(&self) -> String {
        const MESSAGE: &str = "{ id turnId role content text tokens stopped inContext createdAt boundary { reason summary throughMessageId } }";
        const THREAD: &str = "{ id channel personId createdAt lastMessageAt messageCount }";
        let (root, field, items) = match self {
            Self::AgentMessages(_) => ("agent", "messages(".to_owned(), MESSAGE),
            Self::Threads(_, arguments) => ("agent", format!("threads({arguments}"), THREAD),
            Self::Messages(_, _, view) => ("thread", format!("messages(view: {view}, "), MESSAGE),
        };
        format!(
            "query($of: ID!, $limit: Int!, $cursor: String) {{ {root}(id: $of) {{ \
             {field}limit: $limit, cursor: $cursor) {{ items {items} nextCursor hasMore }} }} }}"
        )
    }

    pub fn variables(&self, limit: i64, cursor: Option<&str>) -> Value {
        let of = match self {
            Self::AgentMessages(agent) | Self::Threads(agent, _) => agent,
            Self::Messages(_, thread, _) => thread,
        };
        json!({ "of": of, "limit": limit, "cursor": cursor })
    }

    /// Where the page stands in `data`.
    pub fn pointer(&self) -> &'static str {
        match self {
            Self::AgentMessages(_) => "/agent/messages",
            Self::Threads(..) => "/agent/threads",
            Self::Messages(..) => "/thread/messages",
        }
    }

    /// The path of a page by REST.
    pub fn path(&self, limit: i64, cursor: Option<&str>) -> String {
        let list = match self {
            Self::AgentMessages(agent) => format!("/agents/{agent}/chat/messages"),
            Self::Threads(agent, arguments) => {
                assert!(arguments.is_empty(), "REST has no filters");
                format!("/agents/{agent}/chat/threads")
            }
            Self::Messages(agent, thread, _) => format!("/agents/{agent}/chat/threads/{thread}/messages"),
        };
        let cursor = cursor.map_or_else(String::new, |cursor| format!("&cursor={cursor}"));
        format!("{list}?limit={limit}{cursor}")
    }
}

/// One page of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    pub items: Vec<Value>,
    pub next_cursor: Option<String>,
    pub has_more: bool,
}

impl Page {
    pub fn new(page: &Value) -> Self {
        let read = Self {
            items: page["items"]
                .as_array()
                .unwrap_or_else(|| panic!("items in {page}"))
                .clone(),
            next_cursor: page["nextCursor"].as_str().map(str::to_owned),
            has_more: page["hasMore"]
                .as_bool()
                .unwrap_or_else(|| panic!("hasMore in {page}")),
        };
        assert_eq!(
            read.next_cursor.is_none(),
            !read.has_more,
            "nextCursor is null exactly when hasMore is false"
        );
        read
    }

    pub fn ids(&self) -> Vec<String> {
        ids(&Value::Array(self.items.clone()))
    }

    pub fn texts(&self) -> Vec<String> {
        self.items
            .iter()
            .map(|item| item["text"].as_str().expect("a text").to_owned())
            .collect()
    }
}

/// What a walk read, oldest first.
pub fn oldest_first(pages: &[Page]) -> Vec<Value> {
    pages.iter().rev().flat_map(|page| page.items.clone()).collect()
}
