//! What the README says is so.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::Stdio;

use serde_json::Value;

use crate::support::{Database, Key, List, TestServer, on_both, process};

on_both! {
    every_example_runs,
    the_import_example_is_imported_and_exported,
    the_commands_are_those_of_the_help,
}

const README: &str = include_str!("../../README.md");
const DEFAULTS: &str = include_str!("../../src/config.default.toml");

/// The code blocks of a language.
fn blocks(language: &str) -> Vec<&'static str> {
    let mut blocks: Vec<&str> = README.split(&format!("```{language}\n")).skip(1).collect();
    for block in &mut blocks {
        *block = block.split("```").next().expect("split gives at least one");
    }
    blocks
}

/// The cells of the table below a heading.
fn table(heading: &str) -> Vec<Vec<&'static str>> {
    let section = README
        .split(&format!("\n## {heading}\n"))
        .nth(1)
        .expect("the heading is there");
    let section = section.split("\n## ").next().expect("split gives at least one");
    let rows = section.lines().filter(|line| line.starts_with('|')).skip(2);
    rows.map(|row| row.split('|').map(str::trim).collect()).collect()
}

async fn every_example_runs(db: &Database) {
    let server = TestServer::start(db).await;
    let documents = blocks("graphql");
    assert!(documents.len() >= 2, "the examples are found");
    for document in documents {
        server.graphql(document, Value::Null).await.data("");
    }
    assert_eq!(
        server.thread(&Key::of("person-7"), "messageCount").await["messageCount"],
        2
    );

    let shell = blocks("sh");
    let bodies = parts(&shell, " -d '", &['\'']);
    assert!(!bodies.is_empty(), "the curl examples are found");
    for body in bodies {
        server.post(body).await.data("");
    }
    for path in parts(&shell, "http://127.0.0.1:8080", &['\'', ' ']) {
        if path.starts_with("/agents/") && !path.contains('…') {
            assert_eq!(server.get(path).await.status, 200, "{path}");
        }
    }
}

/// What stands between a beginning and the next of these ends.
fn parts(blocks: &[&'static str], begin: &str, ends: &[char]) -> Vec<&'static str> {
    let all = blocks.iter().flat_map(|block| block.split(begin).skip(1));
    all.map(|rest| rest.split(ends).next().expect("split gives at least one"))
        .collect()
}

async fn the_import_example_is_imported_and_exported(db: &Database) {
    let lines = blocks("json").concat();
    let mut import = process::threadline(db);
    let mut import = import
        .args(["import", "-"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    import
        .stdin
        .take()
        .expect("piped")
        .write_all(lines.as_bytes())
        .unwrap();
    assert!(import.wait().unwrap().success());

    let server = TestServer::start(db).await;
    let thread = server.thread_id(&Key::of("person-7")).await;
    let page = server.page(&List::of_thread("support", &thread), 50, None).await;
    assert_eq!(page.texts(), ["Where is my order?", "On its way."]);
    let export = process::threadline(db)
        .args(["export", "--agent", "support"])
        .output()
        .unwrap();
    assert!(export.status.success());
    assert_eq!(
        String::from_utf8(export.stdout).unwrap().lines().count(),
        lines.lines().count()
    );
}

async fn the_commands_are_those_of_the_help(db: &Database) {
    let help = process::threadline(db).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let commands = help.split("Commands:\n").nth(1).expect("the help lists them");
    let commands: BTreeSet<&str> = commands
        .lines()
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    let named = table("Commands").into_iter().map(|row| {
        let mut words = row[1].trim_matches('`').split_whitespace();
        words.nth(1).expect("threadline and a command")
    });
    assert_eq!(named.collect::<BTreeSet<_>>(), commands);
}

#[test]
fn the_settings_are_those_of_the_default_file_with_their_defaults() {
    let mut section = String::new();
    let mut defaults = BTreeSet::new();
    for line in DEFAULTS.lines().filter(|line| !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = format!("{name}.");
        } else if let Some((key, value)) = line.split_once(" = ") {
            let value = match value.strip_prefix('"').and_then(|value| value.strip_suffix('"')) {
                Some(text) => text.to_owned(),
                None => value.replace('_', ""),
            };
            defaults.insert((format!("{section}{key}"), value));
        }
    }
    let plain = |cell: &str| cell.trim_matches('`').to_owned();
    let said: BTreeSet<_> = table("Settings")
        .into_iter()
        .map(|row| (plain(row[1]), plain(row[2])))
        .collect();
    assert!(!defaults.is_empty());
    let differences: Vec<_> = said.symmetric_difference(&defaults).collect();
    assert!(differences.is_empty(), "{differences:?}");
}
