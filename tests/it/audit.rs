//! The audits of the GraphQL-over-HTTP specification, as npm's `graphql-http` carries them.

use crate::{
    node,
    support::{Backend, TestServer, with_database},
};

#[tokio::test(flavor = "multi_thread")]
async fn all_61_audits_of_graphql_over_http_pass() {
    with_database(Backend::Sqlite, async |database| {
        let server = TestServer::start(database).await;
        let printed = node::run("audit.js", &[&server.url("/graphql")]);
        assert!(printed.contains("61 audits passed, 0 failed"), "{printed}");
    })
    .await;
}
