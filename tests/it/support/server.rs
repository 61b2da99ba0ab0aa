//! A server inside the test.

use std::ops::Deref;

use super::{Client, Database, Process};

/// A server over a test's database. (It is the real binary until the parts can be put together in here.)
pub struct TestServer {
    process: Process,
}

impl TestServer {
    pub async fn start(database: &Database) -> Self {
        Self {
            process: Process::start(database, &[]).await,
        }
    }
}

impl Deref for TestServer {
    type Target = Client;

    fn deref(&self) -> &Client {
        self.process.client()
    }
}
