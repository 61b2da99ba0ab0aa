//! Talks to a server through its public doors.

use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::{Value, json};

use super::{Answer, Key, List, Page, Turn};

/// A client of one server.
#[derive(Clone)]
pub struct Client {
    base: String,
    http: reqwest::Client,
}

impl Client {
    /// `base` is like `http://127.0.0.1:8080`.
    pub fn new(base: String) -> Self {
        Self {
            base,
            // The server closes what says nothing for 10 s: nothing is to be sent at that very moment.
            http: reqwest::Client::builder()
                .pool_idle_timeout(Duration::from_secs(4))
                .build()
                .unwrap(),
        }
    }

    /// The same server, asked over a new connection each time.
    pub fn keeping_no_connection(&self) -> Self {
        Self {
            base: self.base.clone(),
            http: reqwest::Client::builder()
                .pool_max_idle_per_host(0)
                .build()
                .unwrap(),
        }
    }

    /// The same server, asked with a bearer token.
    pub fn bearing(&self, token: &str) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, format!("Bearer {token}").parse().unwrap());
        Self {
            base: self.base.clone(),
            http: reqwest::Client::builder()
                .default_headers(headers)
                .build()
                .unwrap(),
        }
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// The HTTP client under this one, for requests that are not the usual.
    pub fn http(&self) -> &reqwest::Client {
        &self.http
    }

    /// Whether a GET of a path is answered with 200.
    pub async fn is_ok(&self, path: &str) -> bool {
        let response = self.http.get(self.url(path)).send().await;
        response.is_ok_and(|response| response.status() == 200)
    }

    /// A GraphQL request by POST.
    pub async fn graphql(&self, query: &str, variables: Value) -> Answer {
        self.post(json!({ "query": query, "variables": variables }).to_string())
            .await
    }

    /// A GraphQL request by POST whose JSON is written by the test, to the digit.
    pub async fn post(&self, body: impl Into<reqwest::Body>) -> Answer {
        let request = self.http.post(self.url("/graphql")).body(body);
        let request = request.header(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Answer::read(request.send().await.unwrap()).await
    }

    /// A GET, REST or other.
    pub async fn get(&self, path: &str) -> Answer {
        Answer::read(self.http.get(self.url(path)).send().await.unwrap()).await
    }

    /// Appends a turn; the answer may be a refusal.
    pub async fn try_append(&self, key: &Key, turn: &Turn) -> Answer {
        self.send_append(key, turn).await.unwrap()
    }

    /// Appends a turn to a server that may not live to answer.
    pub async fn send_append(&self, key: &Key, turn: &Turn) -> reqwest::Result<Answer> {
        let mutation = "mutation($input: AppendTurnInput!) { appendTurn(input: $input) { replayed \
            thread { id messageCount lastMessageAt } \
            messages { id turnId role content text tokens stopped inContext createdAt } } }";
        self.send(mutation, json!({ "input": turn.input(key) })).await
    }

    /// Appends a turn and gives its payload.
    pub async fn append(&self, key: &Key, turn: &Turn) -> Value {
        self.try_append(key, turn).await.data("/appendTurn").clone()
    }

    /// The same, with an answer that is quick to make: whether it was stored before, and its ids.
    pub async fn send_append_briefly(&self, key: &Key, turn: &Turn) -> reqwest::Result<Answer> {
        let mutation = "mutation($input:AppendTurnInput!){appendTurn(input:$input){replayed messages{id}}}";
        self.send(mutation, json!({ "input": turn.input(key) })).await
    }

    /// A GraphQL request to a server that may not live to answer.
    async fn send(&self, query: &str, variables: Value) -> reqwest::Result<Answer> {
        let body = json!({ "query": query, "variables": variables }).to_string();
        let request = self.http.post(self.url("/graphql")).body(body);
        let request = request.header(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Answer::try_read(request.send().await?).await
    }

    /// Appends a turn of texts, a person's and an agent's in turns, and gives the ids of its messages.
    pub async fn say(&self, key: &Key, turn_id: &str, texts: &[&str]) -> Vec<String> {
        let payload = self.append(key, &Turn::of_texts(turn_id, texts)).await;
        ids(&payload["messages"])
    }

    /// Says so many messages in a thread, a hundred a turn, and gives their ids.
    pub async fn say_many(&self, key: &Key, count: usize) -> Vec<String> {
        let mut ids = Vec::new();
        while ids.len() < count {
            let texts: Vec<String> = (ids.len()..count.min(ids.len() + 100))
                .map(|n| n.to_string())
                .collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            ids.extend(self.say(key, &format!("turn {}", ids.len()), &texts).await);
        }
        ids
    }

    /// Appends a turn of USER messages whose contents are JSON written by the test, to the digit.
    pub async fn try_append_json(&self, key: &Key, turn_id: &str, contents: &[&str]) -> Answer {
        let query = "mutation($of: ThreadKeyInput!, $turn: ID!, $messages: [MessageInput!]!) { \
            appendTurn(input: { thread: $of, turnId: $turn, messages: $messages }) { replayed messages { id content text } } }";
        let messages: Vec<String> = contents
            .iter()
            .map(|content| format!(r#"{{"role":"USER","content":{content}}}"#))
            .collect();
        self.post(format!(
            r#"{{"query":{},"variables":{{"of":{},"turn":{},"messages":[{}]}}}}"#,
            json!(query),
            key.json(),
            json!(turn_id),
            messages.join(",")
        ))
        .await
    }

    /// The thread of a key, with what `fields` asks.
    pub async fn thread(&self, key: &Key, fields: &str) -> Value {
        let query = format!("query($key: ThreadKeyInput!) {{ threadByKey(key: $key) {{ {fields} }} }}");
        let answer = self.graphql(&query, json!({ "key": key.json() })).await;
        answer.data("/threadByKey").clone()
    }

    /// The id of a thread that exists.
    pub async fn thread_id(&self, key: &Key) -> String {
        let thread = self.thread(key, "id").await;
        thread["id"].as_str().expect("a thread of this key").to_owned()
    }

    /// Resets a thread; the answer may be a refusal.
    pub async fn reset(&self, thread_id: &str) -> Answer {
        let mutation = "mutation($id: ID!) { resetThread(input: { threadId: $id }) { drawn \
            thread { id messageCount } boundary { id inContext boundary { reason summary throughMessageId } } } }";
        self.graphql(mutation, json!({ "id": thread_id })).await
    }

    /// Resets a thread of a server that may not live to answer.
    pub async fn send_reset(&self, thread_id: &str) -> reqwest::Result<Answer> {
        let mutation = "mutation($id:ID!){resetThread(input:{threadId:$id}){drawn boundary{id}}}";
        self.send(mutation, json!({ "id": thread_id })).await
    }

    /// Compacts a thread; the answer may be a refusal.
    pub async fn compact(&self, thread_id: &str, summary: &str, through: &str) -> Answer {
        let mutation = "mutation($input: CompactThreadInput!) { compactThread(input: $input) { thread { id messageCount } \
            boundary { id turnId role content text inContext boundary { reason summary throughMessageId } } } }";
        let input = json!({ "threadId": thread_id, "summary": summary, "throughMessageId": through });
        self.graphql(mutation, json!({ "input": input })).await
    }

    /// What the model is given; `arguments` is like `(maxTokens: 100)` or empty.
    pub async fn context(&self, key: &Key, arguments: &str) -> Value {
        let fields = format!(
            "context{arguments} {{ summary messages {{ id turnId role content text tokens }} tokens truncated boundaryId }}"
        );
        self.thread(key, &fields).await["context"].clone()
    }

    /// A page by GraphQL; the answer may be a refusal.
    pub async fn try_page(&self, list: &List, limit: i64, cursor: Option<&str>) -> Answer {
        self.graphql(&list.query(), list.variables(limit, cursor)).await
    }

    /// A page by GraphQL.
    pub async fn page(&self, list: &List, limit: i64, cursor: Option<&str>) -> Page {
        let answer = self.try_page(list, limit, cursor).await;
        Page::new(answer.data(list.pointer()))
    }

    /// A page by REST; the answer may be a refusal.
    pub async fn try_rest_page(&self, list: &List, limit: i64, cursor: Option<&str>) -> Answer {
        self.get(&list.path(limit, cursor)).await
    }

    /// A page by REST.
    pub async fn rest_page(&self, list: &List, limit: i64, cursor: Option<&str>) -> Page {
        let answer = self.try_rest_page(list, limit, cursor).await;
        assert_eq!(answer.status, 200, "{}", answer.raw);
        Page::new(&answer.body)
    }

    /// Walks a list back to its start and gives its pages, the newest first.
    pub async fn walk(&self, list: &List, limit: i64) -> Vec<Page> {
        walk(async |cursor| self.page(list, limit, cursor).await).await
    }

    /// The same by REST.
    pub async fn rest_walk(&self, list: &List, limit: i64) -> Vec<Page> {
        walk(async |cursor| self.rest_page(list, limit, cursor).await).await
    }
}

async fn walk(page: impl AsyncFn(Option<&str>) -> Page) -> Vec<Page> {
    let mut pages: Vec<Page> = Vec::new();
    loop {
        let cursor = pages.last().and_then(|page| page.next_cursor.clone());
        let next = page(cursor.as_deref()).await;
        let more = next.has_more;
        pages.push(next);
        if !more {
            return pages;
        }
        assert!(pages.len() < 100_000, "a walk that does not end");
    }
}

/// The ids of a list of items.
pub fn ids(items: &Value) -> Vec<String> {
    let items = items.as_array().expect("a list");
    items
        .iter()
        .map(|item| item["id"].as_str().expect("an id").to_owned())
        .collect()
}
