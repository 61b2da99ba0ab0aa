//! The settings there are, read off the default file.

use figment::{
    providers::{Format, Toml},
    value::{Dict, Value},
};

/// A setting as the default file explains it.
#[derive(Debug)]
pub struct Key {
    /// Its dotted name, `database.url`.
    pub name: String,
    /// The environment variable that sets it.
    pub variable: String,
    /// The flag that sets it, without its dashes.
    pub flag: String,
    /// What it means, its unit and what it allows: the comment above it.
    pub meaning: String,
    /// Its value when nobody sets it.
    pub default: Value,
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Key {
    /// Whether its value must not be seen: such a setting has no flag, for command lines are public.
    #[must_use]
    pub fn is_secret(&self) -> bool {
        matches!(self.name.as_str(), "auth.secret" | "cursor.secrets")
    }
}

/// Reads the keys in the order of the file: TOML forgets the order and the comments, so those are taken from the
/// lines.
pub(super) fn read(file: &str) -> Vec<Key> {
    let dict: Dict = Toml::from_str(file).expect("the default file is compiled in and tested");
    let values = Value::from(dict);
    let mut keys = Vec::new();
    let mut table = String::new();
    let mut comment = Vec::new();
    for line in file.lines() {
        if let Some(text) = line.strip_prefix('#') {
            comment.push(text.trim());
        } else if let Some(name) = line.strip_prefix('[') {
            table = format!("{}.", name.trim_end_matches(']'));
        } else if let Some((field, _)) = line.split_once(" = ") {
            let name = format!("{table}{field}");
            let default = values
                .find_ref(&name)
                .expect("a line that looks like a key is one")
                .clone();
            keys.push(Key {
                variable: format!("THREADLINE_{}", name.replace('.', "_").to_uppercase()),
                flag: name.replace(['.', '_'], "-"),
                name,
                meaning: comment.join(" "),
                default,
            });
            comment.clear();
        } else {
            comment.clear();
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::{DEFAULTS, keys, layer};

    #[test]
    fn every_line_of_the_default_file_is_a_key_that_is_explained() {
        let lines = DEFAULTS.lines().filter(|line| line.contains(" = ")).count();
        assert_eq!(keys().len(), lines);
        for key in keys() {
            assert!(key.meaning.ends_with('.'), "{} is not explained", key.name);
            assert!(layer::typed(key, &key.default).is_ok(), "{}", key.name);
        }
    }

    #[test]
    fn no_two_keys_share_a_variable_or_a_flag() {
        let variables: HashSet<_> = keys().iter().map(|key| &key.variable).collect();
        let flags: HashSet<_> = keys().iter().map(|key| &key.flag).collect();
        assert_eq!((variables.len(), flags.len()), (keys().len(), keys().len()));
    }
}
