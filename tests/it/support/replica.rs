//! A replica without HTTP in front of it: the one door over a store and connections of its own, with a clock that
//! the test sets.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use threadline::chat::clock::Clock;
use threadline::chat::error::Result;
use threadline::chat::gateway::{Gateway, GatewayLimits};
use threadline::chat::json::Json;
use threadline::chat::model::{BeganUnder, Outcome, Role, ThreadKey};
use threadline::chat::scope::Scope;
use threadline::chat::store::Appended;
use threadline::chat::turn::{MessageDraft, TurnDraft};
use threadline::storage::{DatabaseSettings, SqlStore};

use super::{Database, Key, Turn};

/// One of several servers over a database.
pub struct Replica {
    pub gateway: Gateway,
    pub clock: Clock,
}

impl Replica {
    /// One that waits long for others, as a busy machine needs.
    pub async fn of(db: &Database) -> Self {
        let patience = Duration::from_secs(60);
        let settings = DatabaseSettings {
            url: db.url().to_owned(),
            schema: "threadline".to_owned(),
            max_connections: 16,
            acquire_timeout: patience,
            statement_timeout: patience,
            lock_timeout: patience,
            idle_in_transaction_timeout: patience,
        };
        let clock = Clock::default();
        let store = SqlStore::open(&settings, clock.clone()).await.unwrap();
        store.migrate().await.unwrap();
        let gateway = Gateway::open(Arc::new(store), &[], GatewayLimits::default())
            .await
            .unwrap();
        Self { gateway, clock }
    }

    /// Appends a turn.
    pub async fn append(&self, key: &Key, turn: &Turn) -> Result<Appended> {
        let draft = TurnDraft {
            key: thread_key(key),
            turn_id: turn.id().to_owned(),
            outcome: Some(Outcome::Completed),
            began: BeganUnder::Now,
            messages: turn.messages().iter().map(draft).collect(),
        };
        self.gateway.append_turn(&Scope::local(), draft).await
    }
}

/// A key as the gateway takes it.
pub fn thread_key(key: &Key) -> ThreadKey {
    ThreadKey::new(key.agent.clone(), key.channel.clone(), key.person.clone()).unwrap()
}

fn draft(message: &Value) -> MessageDraft {
    MessageDraft {
        role: match message["role"].as_str() {
            Some("USER") => Role::User,
            Some("ASSISTANT") => Role::Assistant,
            other => panic!("not the role of a text: {other:?}"),
        },
        content: Json::parse(message["content"].to_string().as_bytes()).unwrap(),
        tokens: None,
    }
}
