//! `threadline token`, and a server that has a secret.

use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::support::issuer::SECRET;
use crate::support::{Backend, Database, Process, process, with_database};

fn token_command(database: &Database, arguments: &[&str]) -> Command {
    let mut command = process::threadline(database);
    command.arg("token").args(arguments);
    command
}

fn minted(database: &Database, arguments: &[&str]) -> String {
    let output = token_command(database, arguments)
        .env("THREADLINE_AUTH_SECRET", SECRET)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", told(&output));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_minted_token_is_good_at_a_server_with_the_secret_for_as_long_as_it_says() {
    with_database(Backend::Sqlite, async |database| {
        let secret_file = database.folder().join("secret");
        std::fs::write(&secret_file, format!("{SECRET}\n")).unwrap();
        let server = Process::start_with_env(
            database,
            &[("THREADLINE_AUTH_SECRET_FILE", secret_file.to_str().unwrap())],
        )
        .await;
        assert!(
            !server.output().contains("there is no auth"),
            "{}",
            server.output()
        );
        let ask = async |token: &str| {
            server
                .bearing(token)
                .graphql("{ viewer { teamId role personId } }", Value::Null)
                .await
        };
        let admin = minted(database, &["--role", "admin"]);
        assert_eq!(
            ask(&admin).await.data("/viewer"),
            &json!({ "teamId": "default", "role": "ADMIN", "personId": null })
        );
        let widget = [
            "--role",
            "widget",
            "--team",
            "acme",
            "--agent",
            "a",
            "--channel",
            "web",
            "--person",
            "p",
            "--ttl",
            "2s",
        ];
        let widget = minted(database, &widget);
        assert_eq!(
            ask(&widget).await.data("/viewer"),
            &json!({ "teamId": "acme", "role": "WIDGET", "personId": "p" })
        );
        tokio::time::sleep(std::time::Duration::from_millis(2_100)).await;
        assert_eq!(ask(&widget).await.status, 401, "expired");
        for secret in [SECRET, &admin, &widget] {
            assert!(!server.output().contains(secret), "no secret is logged");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_a_token_is_wrong_usage() {
    with_database(Backend::Sqlite, async |database| {
        for (arguments, says) in [
            (
                &["--role", "root"][..],
                "role is widget, dashboard, agent or admin",
            ),
            (&[], "--role"),
            (
                &["--role", "widget", "--agent", "a"],
                "needs agent, channel and person",
            ),
            (&["--role", "admin", "--team", ""], "team has 1 to 200 characters"),
            (&["--role", "admin", "--channel", "Web"], "channel is made of"),
            (&["--role", "admin", "--ttl", "soon"], "--ttl"),
            (&["--role", "admin", "--ttl", "9999999years"], "--ttl"),
        ] {
            let output = token_command(database, arguments)
                .env("THREADLINE_AUTH_SECRET", SECRET)
                .output()
                .unwrap();
            assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", told(&output));
            assert!(told(&output).contains(says), "{arguments:?}: {}", told(&output));
        }
        let without = token_command(database, &["--role", "admin"]).output().unwrap();
        assert_eq!(without.status.code(), Some(2));
        assert!(
            told(&without).contains("THREADLINE_AUTH_SECRET"),
            "{}",
            told(&without)
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_is_never_shown_and_a_short_one_is_refused() {
    with_database(Backend::Sqlite, async |database| {
        let run = |command: &str, secret: &str| {
            process::threadline(database)
                .arg(command)
                .env("THREADLINE_AUTH_SECRET", secret)
                .output()
                .unwrap()
        };
        let shown = run("config", SECRET);
        let text = String::from_utf8(shown.stdout).unwrap();
        assert!(
            text.contains("auth.secret = \"***\"") && !text.contains(SECRET),
            "{text}"
        );
        let short = "31 bytes are one too few, you se";
        let refused = run("config", &short[..31]);
        assert_eq!(refused.status.code(), Some(2));
        assert!(told(&refused).contains("at least 32 bytes") && !told(&refused).contains(&short[..31]));
        let flag = process::threadline(database)
            .args(["serve", "--auth-secret", SECRET])
            .output()
            .unwrap();
        assert_eq!(
            flag.status.code(),
            Some(2),
            "command lines can be read by everybody on a machine"
        );
        let no_file = process::threadline(database)
            .arg("config")
            .env("THREADLINE_AUTH_SECRET_FILE", "/nowhere/secret")
            .output()
            .unwrap();
        assert_eq!(no_file.status.code(), Some(2));
        assert!(told(&no_file).contains("/nowhere/secret"), "{}", told(&no_file));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_secret_the_server_may_listen_beyond_this_machine_under_any_name() {
    with_database(Backend::Sqlite, async |database| {
        let server = Process::start_with_env(
            database,
            &[
                ("THREADLINE_AUTH_SECRET", SECRET),
                ("THREADLINE_LISTEN", "0.0.0.0:0"),
            ],
        )
        .await;
        let named = server
            .http()
            .get(server.url("/healthz"))
            .header("host", "chats.example.com");
        assert_eq!(named.send().await.unwrap().status(), 200);
    })
    .await;
}
