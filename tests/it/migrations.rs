//! The tables, and who may change them.

use futures::future::join_all;

use crate::support::{Backend, Database, Key, Process, on_both, process, rows::Rows};

on_both! {
    four_servers_that_start_at_once_on_an_empty_database_all_come_up,
    a_database_of_a_newer_release_is_refused,
    a_server_that_finds_no_partition_for_now_makes_them_at_start,
    a_server_starts_while_another_makes_partitions,
}

async fn four_servers_that_start_at_once_on_an_empty_database_all_come_up(db: &Database) {
    let servers = join_all((0..4).map(|_| Process::start(db, &[]))).await;
    for (index, server) in servers.iter().enumerate() {
        server.say(&Key::of("p"), &format!("t{index}"), &["a"]).await;
    }
    let rows = Rows::of(db).await;
    assert_eq!(rows.count("SELECT count(*) FROM seaql_migrations").await, 1);
    assert_eq!(rows.count("SELECT message_count FROM chat").await, 4);
}

async fn a_database_of_a_newer_release_is_refused(db: &Database) {
    drop(Process::start(db, &[]).await);
    let rows = Rows::of(db).await;
    rows.run("INSERT INTO seaql_migrations (version, applied_at) VALUES ('m29990101_000001_future', 0)")
        .await;
    for command in ["serve", "migrate"] {
        let output = process::threadline(db)
            .args([command, "--listen", "127.0.0.1:0"])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(
            said.contains("newer") && said.contains("m29990101_000001_future"),
            "{said}"
        );
    }
}

async fn a_server_that_finds_no_partition_for_now_makes_them_at_start(db: &Database) {
    let server = Process::start(db, &[]).await;
    server.say(&Key::of("p"), "t", &["a"]).await;
    drop(server);
    if db.backend == Backend::Postgres {
        // What a server finds that was off since before this month: no partition for now.
        let rows = Rows::of(db).await;
        let months = rows
            .count("SELECT count(*) FROM pg_inherits WHERE inhparent = 'message'::regclass")
            .await;
        assert!(months >= 4, "{months} partitions: this month's and some ahead");
        rows.run(
            "DO $$ DECLARE part regclass; BEGIN
                FOR part IN SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'message'::regclass LOOP
                    EXECUTE format('DROP TABLE %s', part);
                END LOOP; END $$; DELETE FROM turn; DELETE FROM chat",
        )
        .await;
    }
    let server = Process::start(db, &[]).await;
    server.say(&Key::of("p"), "u", &["b"]).await;
    let thread = server.thread(&Key::of("p"), "messages { items { text } }").await;
    let last = thread["messages"]["items"].as_array().unwrap().last().unwrap();
    assert_eq!(last["text"], "b");
}

async fn a_server_starts_while_another_makes_partitions(db: &Database) {
    drop(Process::start(db, &[]).await);
    let rows = Rows::of(db).await;
    if db.backend == Backend::Postgres {
        // What an import of a long history holds meanwhile.
        rows.run("SELECT pg_advisory_lock(x'7468726561647061'::bigint)")
            .await;
    }
    let server = Process::start(db, &[]).await;
    server.say(&Key::of("p"), "t", &["a"]).await;
}
