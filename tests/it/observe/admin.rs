//! The admin listener.

use tokio::net::TcpListener;

use crate::support::command::Ran;
use crate::support::{Backend, Database, Process, process, with_database};

const DEFAULT: &str = "127.0.0.1:9464";

#[tokio::test(flavor = "multi_thread")]
async fn metrics_are_on_the_admin_listener_and_nothing_else_is() {
    with_database(Backend::Sqlite, async |db: &Database| {
        let server = Process::start(db, &["--admin-listen=127.0.0.1:0"]).await;
        let admin = server.admin();
        let scraped = admin.get("/metrics").await;
        assert_eq!(
            (scraped.status, scraped.content_type.as_str()),
            (200, "text/plain; version=0.0.4; charset=utf-8")
        );
        for path in [
            "/",
            "/graphql?query={viewer{role}}",
            "/agents/a/chat/messages",
            "/graphiql",
        ] {
            assert_eq!(admin.get(path).await.status, 404, "{path}");
        }
        assert_eq!(server.get("/metrics").await.status, 404, "not for the public");
    })
    .await;
}

#[tokio::test]
async fn the_admin_listener_may_be_off() {
    with_database(Backend::Sqlite, async |db: &Database| {
        let server = Process::start(db, &["--admin-listen=off"]).await;
        let said = server.output();
        assert!(said.contains("serving") && !said.contains("metrics"), "{said}");
    })
    .await;
}

#[tokio::test]
async fn a_default_port_that_is_taken_is_a_warning_and_a_chosen_one_an_error() {
    with_database(Backend::Sqlite, async |db: &Database| {
        // Another server on this machine may have it for a while.
        let taken = loop {
            match TcpListener::bind(DEFAULT).await {
                Ok(listener) => break listener,
                Err(_) => tokio::time::sleep(std::time::Duration::from_millis(50)).await,
            }
        };
        let mut command = process::threadline(db);
        command.env_remove("THREADLINE_ADMIN_LISTEN").arg("serve");
        let server = Process::run(command).await;
        let said = server.output();
        let warning = said.lines().find(|line| line.contains("there are no metrics"));
        let warning = warning.unwrap_or_else(|| panic!("a warning in {said}"));
        assert!(warning.contains("WARN") && warning.contains(DEFAULT), "{warning}");
        drop(server);

        let set = ["serve", "--listen=127.0.0.1:0", "--admin-listen", DEFAULT];
        let said = Ran::threadline(db, &set, "").refused(1);
        assert!(
            said.contains(DEFAULT) && said.contains("--admin-listen"),
            "{said}"
        );
        drop(taken);
    })
    .await;
}
