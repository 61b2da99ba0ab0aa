//! Settings: where they come from, and what is said about wrong ones.

use std::fs;
use std::process::Command;

use tempfile::TempDir;

use crate::support::command::Ran;

/// `threadline` in a folder of its own, with no settings but these variables.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(TempDir::with_prefix("threadline-config-").unwrap())
    }

    fn file(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).unwrap();
    }

    fn run(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_threadline"));
        command.env_clear().envs(variables.iter().copied());
        command.current_dir(self.0.path()).args(arguments);
        Ran::new(command)
    }

    /// The line of a setting in what `threadline config` prints.
    fn setting(&self, variables: &[(&str, &str)], flags: &[&str], name: &str) -> String {
        let ran = self.run(variables, &[&["config"], flags].concat()).ok();
        let line = ran
            .out
            .lines()
            .find(|line| line.starts_with(&format!("{name} = ")));
        let line = line.unwrap_or_else(|| panic!("{name} in {}", ran.out));
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

#[test]
fn a_flag_wins_over_a_variable_that_over_the_file_and_that_over_the_default() {
    let place = Place::new();
    let default = place.setting(&[], &[], "limits.depth");
    assert_eq!(default, "limits.depth = 16 # default");
    place.file("threadline.toml", "limits.depth = 17\n[log]\nformat = \"json\"\n");
    let file = place.setting(&[], &[], "limits.depth");
    assert_eq!(file, "limits.depth = 17 # file threadline.toml");
    let variables = [("THREADLINE_LIMITS_DEPTH", "18")];
    let variable = place.setting(&variables, &[], "limits.depth");
    assert_eq!(variable, "limits.depth = 18 # variable THREADLINE_LIMITS_DEPTH");
    let flag = place.setting(&variables, &["--limits-depth", "19"], "limits.depth");
    assert_eq!(flag, "limits.depth = 19 # flag --limits-depth");
    let other = place.setting(&[], &[], "log.format");
    assert_eq!(other, "log.format = \"json\" # file threadline.toml");
}

#[test]
fn another_file_may_be_named_and_then_has_to_be_there() {
    let place = Place::new();
    place.file("threadline.toml", "limits.depth = 17");
    place.file("other.toml", "limits.tokens = 5");
    let flags = ["--config", "other.toml"];
    assert_eq!(
        place.setting(&[], &flags, "limits.depth"),
        "limits.depth = 16 # default"
    );
    assert_eq!(
        place.setting(&[], &flags, "limits.tokens"),
        "limits.tokens = 5 # file other.toml"
    );
    let said = place.run(&[], &["config", "--config", "none.toml"]).refused(2);
    assert!(said.contains("none.toml cannot be read"), "{said}");
    place.file("broken.toml", "limits = = 5");
    let said = place.run(&[], &["config", "--config", "broken.toml"]).refused(2);
    assert!(
        said.contains("broken.toml is not TOML") && said.contains("line 1"),
        "{said}"
    );
}

#[test]
fn an_unknown_setting_is_refused_with_the_one_that_was_meant() {
    let place = Place::new();
    let said = place
        .run(&[("THREADLINE_LOG_LEVL", "info")], &["config"])
        .refused(2);
    assert!(said.contains("THREADLINE_LOG_LEVL"), "{said}");
    assert!(said.contains("did you mean THREADLINE_LOG_LEVEL?"), "{said}");
    place.file("threadline.toml", "[limits]\npage_item = 50");
    let said = place.run(&[], &["config"]).refused(2);
    assert!(said.contains("limits.page_item (in threadline.toml)"), "{said}");
    assert!(said.contains("did you mean limits.page_items?"), "{said}");
    let said = place.run(&[], &["config", "--log-levl", "info"]).refused(2);
    assert!(said.contains("--log-level"), "{said}");
}

#[test]
fn what_kubernetes_sets_for_a_service_of_that_name_is_no_setting() {
    let variables = [
        ("THREADLINE_PORT", "tcp://10.0.0.1:8080"),
        ("THREADLINE_PORT_8080_TCP", "tcp://10.0.0.1:8080"),
        ("THREADLINE_SERVICE_HOST", "10.0.0.1"),
    ];
    Place::new().run(&variables, &["config"]).ok();
}

#[test]
fn a_wrong_value_says_which_setting_it_is_what_is_allowed_and_where_it_came_from() {
    let place = Place::new();
    let said = place
        .run(&[], &["config", "--limits-page-items", "201"])
        .refused(2);
    for part in [
        "limits.page_items = 201",
        "flag --limits-page-items",
        "from 1 to 200",
    ] {
        assert!(said.contains(part), "{said}");
    }
    let variables = [("THREADLINE_DATABASE_LOCK_TIMEOUT", "2")];
    let said = place.run(&variables, &["config"]).refused(2);
    for part in [
        "database.lock_timeout = \"2\"",
        "variable THREADLINE_DATABASE_LOCK_TIMEOUT",
        "like 15s",
        "How long a statement waits",
    ] {
        assert!(said.contains(part), "{said}");
    }
    place.file("threadline.toml", "listen = 8080");
    let said = place.run(&[], &["config"]).refused(2);
    assert!(said.contains("listen = 8080 (file threadline.toml)"), "{said}");
    assert!(said.contains("a text, in quotes"), "{said}");
}

#[test]
fn secrets_and_passwords_are_never_printed() {
    let place = Place::new();
    let secret = "q".repeat(31);
    let variables = [
        ("DATABASE_URL", "mysql://me:pass-word@host/db"),
        ("THREADLINE_CHAT_DATABASE_URL", "postgres://me:pass-word@host/db"),
    ];
    let shown = place.setting(&variables, &[], "chat.database.url");
    assert!(
        shown.starts_with("chat.database.url = \"postgres://me:***@host/db\""),
        "{shown}"
    );
    for variables in [
        variables[..1].to_vec(),
        vec![("THREADLINE_CURSOR_SECRETS", secret.as_str())],
    ] {
        let said = place.run(&variables, &["config"]).refused(2);
        assert!(!said.contains("pass-word") && !said.contains(&secret), "{said}");
        assert!(said.contains("***"), "{said}");
    }
}

#[test]
fn every_setting_is_a_flag_in_the_help_but_for_secrets() {
    let place = Place::new();
    let names = place.run(&[], &["config"]).ok().out;
    let names: Vec<_> = names.lines().filter_map(|line| line.split_once(" = ")).collect();
    assert!(names.len() > 25, "{names:?}");
    let help = place.run(&[], &["serve", "--help"]).ok().out;
    let secrets = ["auth.secret", "cursor.secrets"];
    for (name, _) in names.into_iter().filter(|(name, _)| !secrets.contains(name)) {
        let flag = format!("--{} ", name.replace(['.', '_'], "-"));
        assert!(help.contains(&flag), "{flag} in {help}");
    }
    assert!(!help.contains("--cursor-secrets") && !help.contains("--auth-secret"));
    let other = place.run(&[], &["migrate", "--help"]).ok().out;
    assert!(
        !other.contains("--database-url") && other.contains("`threadline --help`"),
        "{other}"
    );
}

#[test]
fn a_secret_that_did_not_arrive_or_came_twice_is_refused_and_no_error_quotes_one() {
    let place = Place::new();
    place.file("empty", "\n");
    place.file("secret", "a secret in a file, of 32 bytes and more\n");
    for variables in [
        &[("THREADLINE_AUTH_SECRET", "")][..],
        &[("THREADLINE_AUTH_SECRET_FILE", "empty")],
        &[
            ("THREADLINE_AUTH_SECRET_FILE", "secret"),
            ("THREADLINE_AUTH_SECRET", ""),
        ],
        &[
            ("THREADLINE_DATABASE_URL_FILE", "secret"),
            ("THREADLINE_DATABASE_URL", "sqlite://a.db"),
        ],
        &[("THREADLINE_DATABASE_URL_FILE", "secret")],
        &[("THREADLINE_AUTH_SECRET_FILE", "nowhere")],
    ] {
        let refused = place.run(variables, &["config"]).refused(2);
        assert!(
            refused.contains(variables[0].0) && !refused.contains("a secret in"),
            "{refused}"
        );
    }
    let set = place.setting(&[("THREADLINE_AUTH_SECRET_FILE", "secret")], &[], "auth.secret");
    assert_eq!(
        set,
        "auth.secret = \"***\" # variable THREADLINE_AUTH_SECRET_FILE"
    );
    for line in [
        "auth.secret = \"TopSecret",
        "auth.secret = TopSecret",
        "auth.secret = [\"TopSecret\"]",
    ] {
        place.file("threadline.toml", line);
        let refused = place.run(&[], &["config"]).refused(2);
        assert!(
            !refused.contains("TopSecret") && refused.contains("threadline.toml"),
            "{refused}"
        );
    }
}
