//! Every statement on chats and messages names the team, in the logs of a real server.

use serde_json::Value;

use crate::support::issuer::{SECRET, claims_of, token, widget_claims};
use crate::support::{Database, Key, List, Process, Turn, on_both};

on_both! {
    every_statement_on_chats_and_messages_names_the_team,
}

/// The texts of the statements in a JSON log.
fn statements(log: &str) -> Vec<String> {
    let lines = log
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    // A short statement is its own summary.
    let text = |line: Value| {
        let whole = line["db.statement"].as_str().filter(|text| !text.is_empty());
        Some(whole.or(line["summary"].as_str())?.to_owned())
    };
    lines.filter_map(text).collect()
}

/// Whether a statement reads or writes a table.
fn is_on(statement: &str, table: &str) -> bool {
    ["FROM", "INTO", "UPDATE", "JOIN"]
        .iter()
        .any(|word| statement.contains(&format!("{word} \"{table}\"")))
}

async fn every_statement_on_chats_and_messages_names_the_team(db: &Database) {
    let settings = [
        ("THREADLINE_AUTH_SECRET", SECRET),
        ("THREADLINE_LOG_FORMAT", "json"),
        ("THREADLINE_LOG_LEVEL", "info,sqlx=debug"),
    ];
    let server = Process::start_with_env(db, &settings).await;
    let key = Key::new("support", "widget", "ann");
    for claims in [
        claims_of("acme", "admin"),
        claims_of("acme", "agent"),
        widget_claims("acme", "support", "widget", "ann"),
    ] {
        let viewer = server.bearing(&token(&claims));
        let turn = claims["role"].as_str().unwrap();
        for turn in [
            Turn::of_texts(turn, &["a", "b"]),
            Turn::of_texts(turn, &["c"]),
            Turn::new(turn).failed(),
        ] {
            viewer.try_append(&key, &turn).await;
        }
        let thread = viewer.thread_id(&key).await;
        for list in [
            List::of_agent("support"),
            List::threads("support"),
            List::threads_by(
                "support",
                "channel: \"widget\", personId: \"ann\", orderBy: ACTIVITY",
            ),
            List::of_thread("support", &thread),
            List::context_of("support", &thread),
        ] {
            viewer.walk(&list, 1).await;
        }
        viewer.context(&key, "").await;
        let through = viewer
            .thread(
                &key,
                "messages(limit: 1) { items { id thread { id } } } boundary { id }",
            )
            .await;
        let through = through["messages"]["items"][0]["id"].as_str().unwrap().to_owned();
        viewer.compact(&thread, "so far", &through).await;
        viewer.reset(&thread).await;
    }
    let log = server.output();
    let (mut on_chats, mut on_messages) = (0, 0);
    for statement in statements(&log) {
        let is_on_chats = is_on(&statement, "chat");
        let is_on_messages = is_on(&statement, "message");
        on_chats += usize::from(is_on_chats);
        on_messages += usize::from(is_on_messages);
        if is_on_chats || is_on_messages {
            let names_the_team = statement.contains("\"team_id\"") || statement.contains("\"agent_key\"");
            assert!(names_the_team, "{statement}");
        }
    }
    assert!(
        on_chats > 40 && on_messages > 20,
        "{on_chats} on chats, {on_messages} on messages: {log}"
    );
}
