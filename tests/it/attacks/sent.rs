//! Requests as raw as they need to be.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::Answer;

/// A server that says nothing for so long hangs.
const NEVER: Duration = Duration::from_secs(60);

/// What goes over a connection: a head without its end, and a body of equal parts.
#[derive(Clone)]
pub struct Sent {
    head: String,
    part: Vec<u8>,
    parts: usize,
}

impl Sent {
    /// A head as it stands, `Host` and the end of it aside.
    pub fn raw(head: impl Into<String>, body: impl Into<Vec<u8>>) -> Self {
        Self {
            head: head.into(),
            part: body.into(),
            parts: 1,
        }
    }

    /// The same with the body so many times.
    pub fn times(self, parts: usize) -> Self {
        Self { parts, ..self }
    }

    /// A body to `/graphql`.
    pub fn post(content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let body = body.into();
        let head = format!(
            "POST /graphql HTTP/1.1\r\naccept: application/graphql-response+json, */*;q=0.1\r\n{content_type}\r\ncontent-length: {}",
            body.len()
        );
        Self::raw(head, body)
    }

    /// A JSON body to `/graphql`.
    pub fn json(body: impl Into<Vec<u8>>) -> Self {
        Self::post("content-type: application/json", body)
    }

    /// A GraphQL request by POST.
    pub fn document(document: &str, variables: &Value) -> Self {
        Self::json(json!({ "query": document, "variables": variables }).to_string())
    }

    /// A GraphQL request by GET.
    pub fn by_get(document: &str, variables: &Value) -> Self {
        let mut url = reqwest::Url::parse("http://x/graphql").unwrap();
        let mut pairs = url.query_pairs_mut();
        pairs.append_pair("query", document);
        if !variables.is_null() {
            pairs.append_pair("variables", &variables.to_string());
        }
        drop(pairs);
        let query = url.query().expect("just appended");
        Self::get(&format!("/graphql?{query}"))
    }

    /// A GET of a path.
    pub fn get(path: &str) -> Self {
        let accept = "accept: application/graphql-response+json, */*;q=0.1";
        Self::raw(format!("GET {path} HTTP/1.1\r\n{accept}"), "")
    }

    /// Sends it and reads until the server closes; status 0 when it closes without a word.
    pub async fn to(&self, address: &str) -> Answer {
        let said = tokio::time::timeout(NEVER, self.exchange(address)).await;
        read(&said.expect("the server answers or closes"))
    }

    async fn exchange(&self, address: &str) -> Vec<u8> {
        let stream = TcpStream::connect(address).await.unwrap();
        let (mut from, mut to) = stream.into_split();
        let head = format!("{}\r\nhost: {address}\r\nconnection: close\r\n\r\n", self.head);
        let write = async {
            // The server may have answered and hung up already.
            let mut written = to.write_all(head.as_bytes()).await;
            for _ in 0..self.parts {
                if written.is_err() {
                    break;
                }
                written = to.write_all(&self.part).await;
            }
        };
        let mut said = Vec::new();
        let read = async {
            // A reset after the answer is as good as an end.
            let _ = from.read_to_end(&mut said).await;
        };
        tokio::join!(write, read);
        said
    }
}

/// The first answer in what a server said.
pub fn read(said: &[u8]) -> Answer {
    let raw = String::from_utf8_lossy(said).into_owned();
    let (head, body) = raw.split_once("\r\n\r\n").unwrap_or((&raw, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    let content_type = head.lines().find_map(|line| line.strip_prefix("content-type: "));
    Answer {
        status: status.unwrap_or(0),
        content_type: content_type.unwrap_or_default().to_owned(),
        body: serde_json::from_str(body).unwrap_or(Value::Null),
        raw,
    }
}
