//! schemathesis, which draws requests from the schema, against a running server with sample data in it.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Client, Database, Process, command::Ran, on_both, rounds};

on_both! {
    whatever_the_schema_allows_is_answered_or_refused,
}

async fn whatever_the_schema_allows_is_answered_or_refused(db: &Database) {
    Ran::threadline(db, &["demo", "--messages", "300"], "").ok();
    let server = Process::start(db, &[]).await;
    let settings = db.folder().join("schemathesis.toml");
    std::fs::write(&settings, settings_for(&server).await).unwrap();
    let examples = rounds(15, 300);
    let output = tokio::task::block_in_place(|| run(&settings, &server.url("/graphql"), examples));
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{printed}\n{}\nthe server:\n{}",
        String::from_utf8_lossy(&output.stderr),
        server.output()
    );
    // It also succeeds when it has tested nothing.
    assert!(
        printed.contains("Tested: 7"),
        "every field at the root was tested: {printed}"
    );
    assert!(server.is_ok("/readyz").await, "{}", server.output());
    assert!(!server.output().contains("panicked"), "{}", server.output());
}

fn run(settings: &Path, url: &str, examples: usize) -> std::process::Output {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = project.join("target/schemathesis/bin/schemathesis");
    assert!(
        program.exists(),
        "schemathesis is not installed: tests/run does that"
    );
    let checks = "answers_or_refuses,response_schema_conformance,content_type_conformance";
    let mut command = Command::new(program);
    command
        .arg("--config-file")
        .arg(settings)
        .args([
            "run",
            url,
            "--mode=all",
            "--seed=1",
            "--generation-database=none",
            "--no-color",
        ])
        .args(["--continue-on-failure", "--warnings=off"])
        .arg(format!("--checks={checks}"))
        .arg(format!("--max-examples={examples}"))
        .env("SCHEMATHESIS_HOOKS", project.join("tests/schemathesis/hooks.py"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .current_dir(settings.parent().expect("a folder"));
    command.output().unwrap()
}

/// Which names and ids there are: what is drawn at random is found nowhere.
async fn settings_for(client: &Client) -> String {
    let query = "{ agent(id: \"support\") { threads(limit: 20) { nextCursor items { id channel personId \
        messages(limit: 2) { nextCursor items { id } } } } } }";
    let answer = client.graphql(query, Value::Null).await;
    let threads = answer.data("/agent/threads");
    let all = |pointer: &str| -> Vec<Value> {
        let threads = threads["items"].as_array().unwrap();
        threads
            .iter()
            .filter_map(|thread| thread.pointer(pointer).cloned())
            .collect()
    };
    let mut cursors = all("/messages/nextCursor");
    cursors.push(threads["nextCursor"].clone());
    cursors.retain(Value::is_string);
    let messages = all("/messages/items/1/id");
    let (mut settings, mut parameters) = (String::new(), "[parameters]\n".to_owned());
    for (name, values, places) in [
        (
            "agents",
            vec![json!("support")],
            ["*.agent.id", "*.*.key.agentId", "*.*.input.thread.agentId"].as_slice(),
        ),
        (
            "channels",
            all("/channel"),
            &["*.*.channel", "*.*.key.channel", "*.*.input.thread.channel"],
        ),
        (
            "people",
            all("/personId"),
            &["*.*.personId", "*.*.key.personId", "*.*.input.thread.personId"],
        ),
        ("threads", all("/id"), &["*.thread.id", "*.*.input.threadId"]),
        (
            "messages",
            messages,
            &["*.*.input.throughMessageId", "*.*.input.boundaryId"],
        ),
        ("cursors", cursors, &["*.*.cursor"]),
    ] {
        assert!(!values.is_empty(), "the sample data has {name}");
        writeln!(settings, "[dictionaries.{name}]\nvalues = {}", json!(values)).unwrap();
        for place in places {
            writeln!(
                parameters,
                "\"{place}\" = {{ dictionary = \"{name}\", probability = 0.7 }}"
            )
            .unwrap();
        }
    }
    settings + &parameters
}
