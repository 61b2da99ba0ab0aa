//! Settings: flags over environment variables over a file over the defaults that are compiled in.
//!
//! `config.default.toml` is the one place where a setting is named and explained. The file's keys, the
//! `THREADLINE_` variables, the flags and their help are all read off it, so none of them can fall behind.

mod error;
mod key;
mod layer;
mod mask;

use std::{
    ffi::OsString,
    fmt,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use figment::value::{Dict, Value};
use serde::de::DeserializeOwned;

pub use error::ConfigError;
pub use key::Key;

/// The default file, compiled in.
pub const DEFAULTS: &str = include_str!("config.default.toml");

/// The file that is read when it is in the working directory.
pub const FILE: &str = "threadline.toml";

static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| key::read(DEFAULTS));

/// Every setting there is, in the order of the default file.
#[must_use]
pub fn keys() -> &'static [Key] {
    &KEYS
}

/// Where settings are looked for.
#[derive(Debug, Default)]
pub struct Sources {
    /// The file that was named; [`FILE`] otherwise, which need not exist.
    pub file: Option<PathBuf>,
    /// The environment.
    pub variables: Vec<(OsString, OsString)>,
    /// What was given on the command line: a key's name and its value.
    pub flags: Vec<(String, String)>,
}

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The defaults compiled in.
    Default,
    /// A key in a file.
    File(PathBuf),
    /// An environment variable.
    Variable(String),
    /// A flag on the command line.
    Flag(String),
}

impl Origin {
    /// Whether a variable named a file that has the value.
    fn is_file_of_a_variable(&self) -> bool {
        matches!(self, Self::Variable(name) if name.ends_with("_FILE"))
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => write!(f, "file {}", path.display()),
            Self::Variable(name) => write!(f, "variable {name}"),
            Self::Flag(name) => write!(f, "flag {name}"),
        }
    }
}

/// A setting that is in force.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Which one.
    pub key: &'static Key,
    /// Where its value came from.
    pub origin: Origin,
    value: Value,
}

impl Setting {
    /// The value as it may be shown: secrets, and passwords in URLs, are hidden.
    #[must_use]
    pub fn shown(&self) -> String {
        match &self.value {
            // Whatever lies in that file, the wrong one perhaps.
            Value::String(..) if self.origin.is_file_of_a_variable() => format!("{:?}", mask::HIDDEN),
            Value::String(_, text) => format!("{:?}", mask::hide(self.key, text)),
            Value::Num(_, number) => layer::whole(number).map_or_else(
                || number.to_f64().unwrap_or_default().to_string(),
                |number| number.to_string(),
            ),
            Value::Bool(_, yes) => yes.to_string(),
            other => other.to_actual().to_string(),
        }
    }
}

/// All settings, each from the strongest source that names it.
#[derive(Clone, Debug)]
pub struct Config {
    settings: Vec<Setting>,
}

impl Config {
    /// Reads every source.
    ///
    /// # Errors
    /// When a file cannot be read, a setting does not exist, or a value is not of its setting's type.
    pub fn load(sources: &Sources) -> Result<Self, ConfigError> {
        let mut settings: Vec<_> = keys()
            .iter()
            .map(|key| Setting {
                key,
                origin: Origin::Default,
                value: key.default.clone(),
            })
            .collect();
        let (path, must_exist) = match &sources.file {
            Some(path) => (path.as_path(), true),
            None => (Path::new(FILE), false),
        };
        let layers = [
            layer::file(path, must_exist)?,
            layer::variables(&sources.variables)?,
            layer::flags(&sources.flags)?,
        ];
        for (key, origin, value) in layers.into_iter().flatten() {
            if let Some(setting) = settings.iter_mut().find(|setting| setting.key == key) {
                setting.origin = origin;
                setting.value = value;
            }
        }
        Ok(Self { settings })
    }

    /// Every setting, in the order of the default file.
    #[must_use]
    pub fn settings(&self) -> &[Setting] {
        &self.settings
    }

    /// One value.
    ///
    /// # Errors
    /// When it cannot be read as a `T`.
    pub fn get<T: DeserializeOwned>(&self, name: &str) -> Result<T, ConfigError> {
        let setting = self.setting(name);
        setting
            .value
            .deserialize()
            .map_err(|error| ConfigError::wrong(setting, &error.kind.to_string()))
    }

    /// A whole table of the file as one struct, whose fields are named as the keys are.
    ///
    /// # Errors
    /// When a value cannot be read as its field's type.
    pub fn table<T: DeserializeOwned>(&self, name: &str) -> Result<T, ConfigError> {
        let prefix = format!("{name}.");
        let dict: Dict = self
            .settings
            .iter()
            .filter_map(|setting| {
                let field = setting.key.name.strip_prefix(&prefix)?;
                Some((field.to_owned(), setting.value.clone()))
            })
            .collect();
        Value::from(dict).deserialize().map_err(|error| {
            let field = error.path.join(".");
            ConfigError::wrong(self.setting(&format!("{prefix}{field}")), &error.kind.to_string())
        })
    }

    /// Whether nobody set it.
    #[must_use]
    pub fn is_default(&self, name: &str) -> bool {
        self.setting(name).origin == Origin::Default
    }

    /// The error for a value that was read but is not allowed; `reason` says what is.
    #[must_use]
    pub fn wrong(&self, name: &str, reason: &str) -> ConfigError {
        ConfigError::wrong(self.setting(name), reason)
    }

    /// Whether a value came from an environment variable, or from a file that one names.
    #[must_use]
    pub fn is_from_a_variable(&self, name: &str) -> bool {
        matches!(self.setting(name).origin, Origin::Variable(_))
    }

    fn setting(&self, name: &str) -> &Setting {
        self.settings
            .iter()
            .find(|setting| setting.key.name == name)
            .expect("settings are asked for by the names in the default file")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(variables: &[(&str, &str)], flags: &[(&str, &str)]) -> Result<Config, ConfigError> {
        Config::load(&Sources {
            file: None,
            variables: variables
                .iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
            flags: flags
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
        })
    }

    fn refusal(variables: &[(&str, &str)]) -> String {
        load(variables, &[]).unwrap_err().to_string()
    }

    #[test]
    fn a_flag_wins_over_a_variable_and_a_variable_over_the_default() {
        let config = load(
            &[
                ("THREADLINE_LISTEN", "127.0.0.1:1"),
                ("THREADLINE_LOG_LEVEL", "debug"),
            ],
            &[("listen", "127.0.0.1:2")],
        )
        .unwrap();
        assert_eq!(config.get::<String>("listen").unwrap(), "127.0.0.1:2");
        assert_eq!(config.get::<String>("log.level").unwrap(), "debug");
        assert_eq!(config.get::<u32>("limits.page_items").unwrap(), 200);
        assert_eq!(config.setting("listen").origin.to_string(), "flag --listen");
        assert_eq!(
            config.setting("log.level").origin.to_string(),
            "variable THREADLINE_LOG_LEVEL"
        );
        assert_eq!(config.setting("database.url").origin, Origin::Default);
    }

    #[test]
    fn database_url_has_a_second_variable_and_ours_wins() {
        let other = ("DATABASE_URL", "postgres://a/b");
        let config = load(&[other], &[]).unwrap();
        assert_eq!(
            config.setting("database.url").origin.to_string(),
            "variable DATABASE_URL"
        );
        let config = load(&[("THREADLINE_DATABASE_URL", "sqlite://x"), other], &[]).unwrap();
        assert_eq!(config.get::<String>("database.url").unwrap(), "sqlite://x");
    }

    #[test]
    fn an_unknown_variable_is_refused_with_the_nearest_name() {
        let refused = refusal(&[("THREADLINE_DATABSE_URL", "x")]);
        assert!(refused.contains("THREADLINE_DATABSE_URL"), "{refused}");
        assert!(
            refused.contains("did you mean THREADLINE_DATABASE_URL?"),
            "{refused}"
        );
    }

    #[test]
    fn the_variables_that_kubernetes_sets_for_a_service_are_let_be() {
        let set = [
            "THREADLINE_PORT",
            "THREADLINE_PORT_8080_TCP_ADDR",
            "THREADLINE_SERVICE_HOST",
        ];
        assert!(load(&set.map(|name| (name, "tcp://10.0.0.1:8080")), &[]).is_ok());
        assert!(load(&[("OTHER", "x"), ("THREADLINEX", "y")], &[]).is_ok());
    }

    #[test]
    fn a_number_that_is_none_is_refused_with_its_meaning_and_origin() {
        for wrong in ["many", "-1", "0", "1.5", ""] {
            let refused = refusal(&[("THREADLINE_LIMITS_DEPTH", wrong)]);
            assert!(refused.contains("limits.depth"), "{refused}");
            assert!(refused.contains("variable THREADLINE_LIMITS_DEPTH"), "{refused}");
            assert!(refused.contains("a whole number of at least 1"), "{refused}");
            assert!(
                refused.contains("The deepest field of a GraphQL document"),
                "{refused}"
            );
        }
    }

    #[test]
    fn a_switch_is_true_or_false_and_nothing_else() {
        for (text, yes) in [("true", true), ("false", false)] {
            let config = load(&[("THREADLINE_GRAPHQL_INTROSPECTION", text)], &[]).unwrap();
            assert_eq!(config.get::<bool>("graphql.introspection").unwrap(), yes);
            assert_eq!(config.setting("graphql.introspection").shown(), text);
        }
        for wrong in ["no", "1", "True", ""] {
            let refused = refusal(&[("THREADLINE_GRAPHQL_INTROSPECTION", wrong)]);
            assert!(refused.contains("it has to be true or false"), "{refused}");
        }
    }

    #[test]
    fn a_table_is_read_as_one_struct_and_names_the_field_that_is_wrong() {
        #[derive(Debug, PartialEq, serde::Deserialize)]
        struct Log {
            format: Format,
        }
        #[derive(Debug, PartialEq, serde::Deserialize)]
        #[serde(rename_all = "lowercase")]
        enum Format {
            Text,
            Json,
        }
        for (text, format) in [("json", Format::Json), ("text", Format::Text)] {
            let config = load(&[], &[("log.format", text)]).unwrap();
            assert_eq!(config.table::<Log>("log").unwrap(), Log { format });
        }
        let wrong = load(&[], &[("log.format", "xml")]).unwrap();
        let refused = wrong.table::<Log>("log").unwrap_err().to_string();
        assert!(
            refused.starts_with("log.format = \"xml\" (flag --log-format)"),
            "{refused}"
        );
    }

    #[test]
    fn what_is_shown_hides_secrets_and_passwords() {
        let secret = "s".repeat(32);
        let config = load(
            &[
                ("THREADLINE_CURSOR_SECRETS", &secret),
                (
                    "DATABASE_URL",
                    "postgres://me:pa:ss@w@host/db?sslmode=require&password=x",
                ),
            ],
            &[],
        )
        .unwrap();
        assert_eq!(config.setting("cursor.secrets").shown(), "\"***\"");
        let url = config.setting("database.url").shown();
        assert_eq!(url, "\"postgres://me:***@host/db?sslmode=require&password=***\"");
        assert_eq!(config.setting("limits.page_bytes").shown(), "8388608");
    }
}
