//! A wire to PostgreSQL that counts the statements that go over it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use reqwest::Url;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::Database;

/// Stands between a server and its database.
pub struct Wire {
    url: String,
    statements: Arc<AtomicUsize>,
    accepting: JoinHandle<()>,
}

impl Wire {
    pub async fn to(database: &Database) -> Self {
        let mut url: Url = database.url().parse().unwrap();
        let behind = format!(
            "{}:{}",
            url.host_str().expect("a host"),
            url.port().unwrap_or(5432)
        );
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        url.set_host(Some("127.0.0.1")).unwrap();
        url.set_port(Some(port)).unwrap();
        // What is encrypted cannot be counted.
        url.query_pairs_mut().append_pair("sslmode", "disable");
        let statements = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&statements);
        let accepting = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(&behind).await.unwrap();
                tokio::spawn(carry(client, server, Arc::clone(&counted)));
            }
        });
        Self {
            url: url.into(),
            statements,
            accepting,
        }
    }

    /// The URL of the database by this wire.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// How many statements were executed since the last call.
    pub fn statements(&self) -> usize {
        self.statements.swap(0, Ordering::SeqCst)
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn carry(client: TcpStream, server: TcpStream, statements: Arc<AtomicUsize>) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let answers = tokio::spawn(async move { copy(&mut from_server, &mut to_client).await });
    let mut messages = Messages::default();
    let mut bytes = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = from_client.read(&mut bytes).await {
        statements.fetch_add(messages.executions(&bytes[..read]), Ordering::SeqCst);
        if to_server.write_all(&bytes[..read]).await.is_err() {
            break;
        }
    }
    answers.abort();
}

/// What a client of PostgreSQL says, message by message.
#[derive(Default)]
struct Messages {
    header: Vec<u8>,
    body_left: usize,
    started: bool,
}

/// The codes of the requests for TLS and for GSS encryption, which come before the start.
const ENCRYPTION: [u32; 2] = [80_877_103, 80_877_104];

impl Messages {
    /// How many messages that execute something begin in these bytes.
    fn executions(&mut self, mut bytes: &[u8]) -> usize {
        let mut executions = 0;
        while !bytes.is_empty() {
            if self.body_left > 0 {
                let skipped = self.body_left.min(bytes.len());
                self.body_left -= skipped;
                bytes = &bytes[skipped..];
                continue;
            }
            self.header.push(bytes[0]);
            bytes = &bytes[1..];
            // The first message has no kind, but a length and a code; the others a kind and a length.
            if !self.started && self.header.len() == 8 {
                self.started = !ENCRYPTION.contains(&number(&self.header[4..]));
                self.body_left = number(&self.header[..4]) as usize - 8;
                self.header.clear();
            } else if self.started && self.header.len() == 5 {
                executions += usize::from(matches!(self.header[0], b'E' | b'Q'));
                self.body_left = number(&self.header[1..]) as usize - 4;
                self.header.clear();
            }
        }
        executions
    }
}

fn number(bytes: &[u8]) -> u32 {
    u32::from_be_bytes(bytes.try_into().expect("four bytes"))
}
