//! The command: what it serves, what it refuses and how it ends.

use std::net::TcpListener;

use crate::support::{Backend, Database, Key, Process, command::Ran, on_both, with_database};

on_both! {
    a_server_that_is_asked_to_stop_ends_well_and_another_finds_what_it_stored,
    migrating_twice_is_migrating_once,
    the_demo_makes_as_many_messages_as_asked_once_and_the_same_each_time,
    a_demo_of_another_seed_stands_beside_the_first,
}

async fn a_server_that_is_asked_to_stop_ends_well_and_another_finds_what_it_stored(db: &Database) {
    let mut server = Process::start(db, &[]).await;
    server.say(&Key::of("p"), "t", &["a", "b"]).await;
    let status = server.terminate().await;
    assert_eq!(status.code(), Some(0), "{}", server.output());
    assert!(
        server.output().contains("there is no auth"),
        "{}",
        server.output()
    );
    let server = Process::start(db, &[]).await;
    let thread = server.thread(&Key::of("p"), "messageCount").await;
    assert_eq!(thread["messageCount"], 2);
}

async fn migrating_twice_is_migrating_once(db: &Database) {
    for _ in 0..2 {
        let ran = Ran::threadline(db, &["migrate"], "").ok();
        assert!(ran.err.contains("up to date"), "{}", ran.err);
    }
}

async fn the_demo_makes_as_many_messages_as_asked_once_and_the_same_each_time(db: &Database) {
    let demo = ["demo", "--messages", "700", "--threads", "9", "--longest", "300"];
    Ran::threadline(db, &demo, "").ok();
    let first = Ran::threadline(db, &["export"], "").ok().out;
    let count = |kind: &str| {
        let kind = format!("{{\"type\":\"{kind}\",");
        first.lines().filter(|line| line.starts_with(&kind)).count()
    };
    assert_eq!((count("thread"), count("message")), (9, 700));
    let nightly = first
        .lines()
        .filter(|line| line.contains("\"nightly-run-"))
        .count();
    assert_eq!(nightly, 301);
    for kind in [
        "tool-call",
        "tool-result",
        "reasoning",
        "\"reset\"",
        "\"compaction\"",
        "\"stopped\":true",
    ] {
        assert!(first.contains(kind), "{kind}");
    }
    let again = Ran::threadline(db, &demo, "").ok();
    assert!(again.err.contains("there already"), "{}", again.err);
    assert_eq!(Ran::threadline(db, &["export"], "").ok().out, first);
}

async fn a_demo_of_another_seed_stands_beside_the_first(db: &Database) {
    for seed in ["1", "2"] {
        Ran::threadline(db, &["demo", "--messages", "60", "--seed", seed], "").ok();
    }
    let lines = Ran::threadline(db, &["export"], "").ok().out;
    let messages = lines
        .lines()
        .filter(|line| line.starts_with("{\"type\":\"message\""));
    assert_eq!(messages.count(), 120);
}

#[tokio::test]
async fn serve_demo_shows_sample_threads_and_leaves_the_configured_database_alone() {
    with_database(Backend::Sqlite, async |db: &Database| {
        let mut server = Process::start(db, &["--demo"]).await;
        let graphiql = server.url("/graphiql");
        assert!(server.output().contains(&graphiql), "{}", server.output());
        assert!(server.is_ok("/graphiql").await);
        for agent in ["support", "sales", "research"] {
            let path = format!("/agents/{agent}/chat/messages?limit=5");
            let page = server.get(&path).await;
            assert_eq!(
                page.body["items"].as_array().map(Vec::len),
                Some(5),
                "{}",
                page.raw
            );
        }
        assert_eq!(server.terminate().await.code(), Some(0));
        let left: Vec<_> = std::fs::read_dir(db.folder()).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
    })
    .await;
}

#[tokio::test]
async fn serve_refuses_an_address_that_others_can_reach() {
    with_database(Backend::Sqlite, async |db: &Database| {
        for listen in ["0.0.0.0:0", "[::]:0", "192.0.2.1:8080"] {
            let said = Ran::threadline(db, &["serve", "--listen", listen], "").refused(2);
            assert!(said.contains("loopback") && said.contains("--listen"), "{said}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_port_that_is_taken_is_named_with_what_to_do() {
    with_database(Backend::Sqlite, async |db: &Database| {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = taken.local_addr().unwrap().to_string();
        let said = Ran::threadline(db, &["--listen", &address], "").refused(1);
        assert!(said.contains(&address) && said.contains("--listen"), "{said}");
    })
    .await;
}

#[tokio::test]
async fn a_database_that_is_not_there_is_an_error_that_says_where_to_look() {
    with_database(Backend::Sqlite, async |db: &Database| {
        let nowhere = "postgres://127.0.0.1:1/nothing";
        for url in [nowhere, "sqlite:///no/such/folder/a.db?mode=rwc"] {
            let said = Ran::threadline(db, &["migrate", "--database-url", url], "").refused(1);
            assert!(said.contains("threadline config"), "{said}");
        }
    })
    .await;
}

#[tokio::test]
async fn the_log_can_be_json() {
    with_database(Backend::Sqlite, async |db: &Database| {
        let mut server = Process::start(db, &["--log-format", "json"]).await;
        server.terminate().await;
        let log = server.output();
        let lines: Vec<serde_json::Value> = log
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert!(lines.iter().any(|line| line["level"] == "WARN"), "{log}");
    })
    .await;
}

#[tokio::test]
async fn help_is_everywhere_and_wrong_usage_exits_with_2() {
    with_database(Backend::Sqlite, async |db: &Database| {
        for command in ["serve", "migrate", "import", "export", "demo", "schema", "config"] {
            let help = Ran::threadline(db, &[command, "--help"], "").ok().out;
            assert!(help.contains("Usage: threadline"), "{help}");
            let said = Ran::threadline(db, &[command, "--no-such-flag"], "");
            assert_eq!(said.code, 2, "{}", said.err);
        }
        for wrong in [
            &["imprt"][..],
            &["import"],
            &["demo", "--messages", "0"],
            &["export", "--thread", "x"],
        ] {
            let said = Ran::threadline(db, wrong, "").refused(2);
            assert!(said.contains("Usage") || said.contains("--help"), "{said}");
        }
        let said = Ran::threadline(
            db,
            &["demo", "--messages", "5", "--threads", "3", "--longest", "4"],
            "",
        );
        assert!(said.refused(2).contains("too few"));
    })
    .await;
}

#[tokio::test]
async fn schema_prints_the_schema_that_the_server_has() {
    with_database(Backend::Sqlite, async |db: &Database| {
        let printed = Ran::threadline(db, &["schema"], "").ok().out;
        let server = Process::start(db, &[]).await;
        assert_eq!(server.get("/schema.graphql").await.raw, printed);
        assert!(printed.contains("type Thread"), "{printed}");
    })
    .await;
}
