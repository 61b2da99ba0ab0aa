//! What attackers and odd clients send, group by group: each is answered with a refusal that has a code, in bounded
//! time; nothing is written, the process lives, and somebody innocent beside is answered as ever.
//!
//! (Tokens and tenants have files of their own.)

mod content;
mod documents;
mod http2;
mod innocent;
mod operations;
mod requests;
mod sent;
mod slow;
mod transport;

use std::cell::RefCell;
use std::time::Duration;

use serde_json::Value;

use self::innocent::Innocent;
use self::sent::Sent;
use crate::support::{Answer, Database, Process, rows::Rows};

/// The promise is 50 ms. This is a debug build, and somebody innocent is answered meanwhile; so it is the time that
/// the server computes, which a busy machine does not make longer.
const SOON: Duration = Duration::from_secs(2);
const TRIES: usize = 5;

/// The code of what is not of its form.
const BAD_INPUT: &str = "BAD_USER_INPUT";

/// One thing that is sent, and what has to come back.
struct Attack {
    name: String,
    sent: Sent,
    status: u16,
    /// The code of the refusal; empty where HTTP itself refuses, before there is a request.
    code: &'static str,
}

fn attack(name: impl Into<String>, sent: Sent, status: u16, code: &'static str) -> Attack {
    Attack {
        name: name.into(),
        sent,
        status,
        code,
    }
}

/// A server under attack.
struct Stage {
    server: Process,
    innocent: Innocent,
    rows: Rows,
    before: Vec<String>,
    /// What was answered otherwise than it has to be: told together, at the end.
    wrong: RefCell<Vec<String>>,
}

impl Stage {
    async fn set(database: &Database) -> Self {
        Self::set_with(database, &[]).await
    }

    async fn set_with(database: &Database, flags: &[&str]) -> Self {
        let server = Process::start(database, flags).await;
        let innocent = Innocent::beside(server.client()).await;
        let rows = Rows::of(database).await;
        let before = rows.snapshot().await;
        assert!(!before.is_empty(), "there is something to spoil");
        Self {
            server,
            innocent,
            rows,
            before,
            wrong: RefCell::default(),
        }
    }

    fn address(&self) -> String {
        self.server.url("").replace("http://", "")
    }

    /// Sends each of a list and looks at what comes back.
    async fn faces(&self, attacks: impl IntoIterator<Item = Attack>) {
        for attack in attacks {
            self.faces_one(&attack).await;
        }
    }

    async fn faces_one(&self, attack: &Attack) -> Answer {
        let mut tries = 1;
        loop {
            let began = self.server.computed();
            let answer = attack.sent.to(&self.address()).await;
            let took = self.server.computed().saturating_sub(began);
            let mut wrong = attack.wrong_in(&answer);
            if took > SOON && wrong.is_none() {
                tries += 1;
                if tries <= TRIES {
                    continue;
                }
                wrong = Some(format!("it took {took:?}, and so {TRIES} times"));
            }
            let told = wrong.map(|wrong| format!("{}: {wrong}", attack.name));
            self.wrong.borrow_mut().extend(told);
            return answer;
        }
    }

    /// Nothing was written, nobody was harmed, nothing broke.
    async fn stays_unharmed(self) {
        let wrong = self.wrong.into_inner();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        let answers = self.innocent.stays_well().await;
        assert!(answers > 0, "somebody innocent was there");
        assert!(self.server.is_ok("/readyz").await, "{}", self.server.output());
        assert_eq!(self.rows.snapshot().await, self.before);
        let said = self.server.output();
        assert!(!said.contains("panicked"), "{said}");
    }
}

impl Attack {
    /// What is not as it has to be in an answer.
    fn wrong_in(&self, answer: &Answer) -> Option<String> {
        let shown = format!("{:.600}", answer.raw);
        if answer.status != self.status {
            return Some(format!("not {} but {shown}", self.status));
        }
        if self.code.is_empty() {
            return None;
        }
        let body = &answer.body;
        let problem = answer.content_type.starts_with("application/problem+json");
        let told: Vec<_> = match body["errors"].as_array() {
            Some(errors) if !problem => {
                let error = |error: &Value| (error["extensions"]["code"].clone(), error["message"].clone());
                errors.iter().map(error).collect()
            }
            _ => vec![(body["code"].clone(), body["detail"].clone())],
        };
        let is_told = |(code, message): &(Value, Value)| {
            let length = message.as_str().map_or(0, |message| message.chars().count());
            code == self.code && (1..=300).contains(&length)
        };
        let has_data = self.status >= 400 && body.get("data").is_some();
        let is_right = (1..=10).contains(&told.len()) && told.iter().all(is_told) && !has_data;
        (!is_right).then(|| format!("no {} in {shown}", self.code))
    }
}
