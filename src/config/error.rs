//! What can be wrong with settings, said so that it can be put right.

use std::path::PathBuf;

use super::{Origin, Setting};

/// Why the settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A value that its setting does not allow.
    #[error("{key} = {value} ({origin}) cannot be used: {reason}\n  {key}: {meaning}")]
    Wrong {
        /// The setting.
        key: &'static str,
        /// Its value, with secrets hidden.
        value: String,
        /// Where that came from.
        origin: Origin,
        /// What is wrong with it.
        reason: String,
        /// What the setting means and what it allows.
        meaning: &'static str,
    },
    /// A setting that does not exist.
    #[error("{name} ({place}) is no setting{}; `threadline config` lists them all", hint(.nearest))]
    Unknown {
        /// Its name as it was written.
        name: String,
        /// Where it was written.
        place: String,
        /// The name that was meant, perhaps.
        nearest: Option<String>,
    },
    /// A file that cannot be read.
    #[error("the settings file {} cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A file that is not TOML.
    #[error("the settings file {} is not TOML: {reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        reason: String,
    },
    /// A combination of settings or arguments that is not allowed.
    #[error("{0}")]
    Refused(String),
}

impl ConfigError {
    pub(super) fn wrong(setting: &Setting, reason: &str) -> Self {
        Self::Wrong {
            key: &setting.key.name,
            value: setting.shown(),
            origin: setting.origin.clone(),
            reason: reason.to_owned(),
            meaning: &setting.key.meaning,
        }
    }
}

fn hint(name: &Option<String>) -> String {
    name.as_ref()
        .map(|name| format!(" (did you mean {name}?)"))
        .unwrap_or_default()
}
