//! The tables, and who may change them.

use std::process::Stdio;
use std::time::{Duration, Instant};

use futures::future::{join, join_all};

use crate::support::{
    Backend, Database, Key, Process, command::Ran, figures, on_both, process, rounds, rows::Rows,
    with_database,
};

on_both! {
    replicas_migrate_together_although_one_of_them_is_killed,
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

/// R15
async fn replicas_migrate_together_although_one_of_them_is_killed(db: &Database) {
    let began = Instant::now();
    let rounds = rounds(3, 50);
    let mut killed = 0;
    for round in 0..rounds {
        with_database(db.backend, async |db| {
            killed += usize::from(migrate_together(db, round).await)
        })
        .await;
    }
    figures::report(
        "R15",
        db,
        began,
        &[
            ("rounds", rounds),
            ("processes", 4 * rounds),
            ("killed_midway", killed),
            ("failed", 0),
        ],
    );
}

/// Three that have to succeed, and one that is killed. Says whether it was killed before its end.
async fn migrate_together(db: &Database, round: usize) -> bool {
    let mut victim = process::threadline(db);
    if round.is_multiple_of(2) {
        victim.arg("migrate");
    } else {
        victim.args(["serve", "--listen", "127.0.0.1:0"]);
    }
    let mut victim = victim
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let after = Duration::from_millis(rand::random_range(0..300));
    let killing = async {
        tokio::time::sleep(after).await;
        let midway = victim.try_wait().unwrap().is_none();
        victim.kill().unwrap();
        victim.wait().unwrap();
        midway
    };
    let mut migrate = process::threadline(db);
    migrate.arg("migrate");
    let migrating = tokio::task::spawn_blocking(|| Ran::new(migrate).ok());
    let serving = join_all((0..2).map(|_| Process::start(db, &[])));
    let (killed, (servers, migrated)) = join(killing, join(serving, migrating)).await;
    migrated.unwrap();
    for (index, server) in servers.iter().enumerate() {
        server.say(&Key::of("p"), &format!("t{index}"), &["a"]).await;
    }
    let rows = Rows::of(db).await;
    assert_eq!(rows.count("SELECT count(*) FROM seaql_migrations").await, 1);
    assert_eq!(rows.count("SELECT message_count FROM chat").await, 2);
    Ran::threadline(db, &["migrate"], "").ok();
    killed
}
