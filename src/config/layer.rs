//! The sources of settings: a file, the environment, the command line.

use std::{ffi::OsString, fs, io::ErrorKind, path::Path};

use figment::{
    providers::{Format, Toml},
    value::{Dict, Num, Value},
};

use super::{ConfigError, Key, Origin, Setting, keys};

const PREFIX: &str = "THREADLINE_";

/// What Kubernetes sets in every pod beside a Service named `threadline`.
const NOT_OURS: [&str; 2] = ["THREADLINE_PORT", "THREADLINE_SERVICE_"];

/// What one source sets.
type Layer = Vec<(&'static Key, Origin, Value)>;

/// The settings in a file.
pub(super) fn file(path: &Path, must_exist: bool) -> Result<Layer, ConfigError> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound && !must_exist => return Ok(Vec::new()),
        Err(source) => {
            let path = path.to_owned();
            return Err(ConfigError::Unreadable { path, source });
        }
    };
    let dict: Dict = Toml::from_str(&text).map_err(|error| ConfigError::Malformed {
        path: path.to_owned(),
        reason: without_source(&error.to_string()),
    })?;
    let mut leaves = Vec::new();
    flatten("", dict, &mut leaves);
    let origin = Origin::File(path.to_owned());
    let set = |(name, value): (String, Value)| match keys().iter().find(|key| key.name == name) {
        Some(key) => set(key, origin.clone(), value),
        None => {
            let known = keys().iter().map(|key| key.name.clone());
            Err(unknown(name, format!("in {}", path.display()), known))
        }
    };
    leaves.into_iter().map(set).collect()
}

/// What is wrong and where, without the line itself: it may hold a secret.
fn without_source(error: &str) -> String {
    let told = error.lines().filter(|line| !line.contains('|'));
    told.collect::<Vec<_>>().join(": ")
}

/// The settings in the environment.
pub(super) fn variables(variables: &[(OsString, OsString)]) -> Result<Layer, ConfigError> {
    let mut layer = Vec::new();
    // The variable that others use for the same thing comes first, so that ours wins over it.
    if let Some((_, value)) = variables.iter().find(|(name, _)| name == "DATABASE_URL") {
        let url = keys().iter().find(|key| key.name == "database.url");
        layer.extend(url.map(|key| variable(key, "DATABASE_URL", value)).transpose()?);
    }
    for (name, value) in variables {
        let Some(name) = name.to_str().filter(|name| name.starts_with(PREFIX)) else {
            continue;
        };
        match keys().iter().find(|key| key.variable == name) {
            Some(key) => layer.push(variable(key, name, value)?),
            None if let Some(key) = named_by_file(name) => {
                if variables.iter().any(|(other, _)| *other == *key.variable) {
                    return Err(ConfigError::Refused(format!(
                        "{} and {name} are both set: which one counts? Unset one of them",
                        key.variable
                    )));
                }
                layer.push(variable(key, name, &content(name, value)?)?);
            }
            None if NOT_OURS.iter().any(|prefix| name.starts_with(prefix)) => {}
            None => {
                let known = keys().iter().map(|key| key.variable.clone());
                return Err(unknown(
                    name.to_owned(),
                    "an environment variable".to_owned(),
                    known,
                ));
            }
        }
    }
    Ok(layer)
}

/// The setting whose value is in a file that a variable names: `THREADLINE_AUTH_SECRET_FILE`.
fn named_by_file(name: &str) -> Option<&'static Key> {
    let variable = name.strip_suffix("_FILE")?;
    keys().iter().find(|key| key.variable == variable)
}

/// What is in a file, without the line end that editors leave there.
fn content(name: &str, path: &OsString) -> Result<OsString, ConfigError> {
    let text = fs::read_to_string(path).map_err(|error| {
        let path = Path::new(path).display();
        ConfigError::Refused(format!(
            "{name} names the file {path}, which cannot be read: {error}"
        ))
    })?;
    Ok(text.trim_end_matches(['\r', '\n']).into())
}

/// The settings on the command line.
pub(super) fn flags(flags: &[(String, String)]) -> Result<Layer, ConfigError> {
    let set = |(name, text): &(String, String)| {
        let key = keys()
            .iter()
            .find(|key| key.name == *name)
            .expect("the flags are made from the keys");
        set(key, Origin::Flag(format!("--{}", key.flag)), read(key, text))
    };
    flags.iter().map(set).collect()
}

fn variable(
    key: &'static Key,
    name: &str,
    value: &OsString,
) -> Result<(&'static Key, Origin, Value), ConfigError> {
    let origin = Origin::Variable(name.to_owned());
    // What is no UTF-8 becomes a text that no setting allows but a path in a URL; SQLite could not open it either.
    set(key, origin, read(key, &value.to_string_lossy()))
}

fn set(
    key: &'static Key,
    origin: Origin,
    value: Value,
) -> Result<(&'static Key, Origin, Value), ConfigError> {
    match typed(key, &value) {
        Ok(()) => Ok((key, origin, value)),
        Err(expected) => {
            let setting = Setting { key, origin, value };
            Err(ConfigError::wrong(&setting, &format!("it has to be {expected}")))
        }
    }
}

/// A text from outside as a value of the type that the key's default has, where it reads as one.
fn read(key: &Key, text: &str) -> Value {
    match key.default {
        Value::Num(..) => text
            .parse::<u64>()
            .map_or_else(|_| Value::from(text), Value::from),
        Value::Bool(..) => text
            .parse::<bool>()
            .map_or_else(|_| Value::from(text), Value::from),
        _ => Value::from(text),
    }
}

/// Whether a value is of the type of the key's default; what it has to be otherwise.
pub(super) fn typed(key: &Key, value: &Value) -> Result<(), &'static str> {
    match (&key.default, value) {
        (Value::String(..), Value::String(..)) => Ok(()),
        (Value::String(..), _) => Err("a text, in quotes"),
        (Value::Bool(..), Value::Bool(..)) => Ok(()),
        (Value::Bool(..), _) => Err("true or false"),
        (_, Value::Num(_, number)) if whole(number).is_some_and(|number| number >= 1) => Ok(()),
        _ => Err("a whole number of at least 1"),
    }
}

/// The number, when it has no fraction.
pub(super) fn whole(number: &Num) -> Option<i128> {
    match number {
        Num::F32(_) | Num::F64(_) => None,
        _ => number
            .to_i128()
            .or_else(|| number.to_u128().and_then(|number| number.try_into().ok())),
    }
}

fn flatten(prefix: &str, dict: Dict, leaves: &mut Vec<(String, Value)>) {
    for (name, value) in dict {
        let name = format!("{prefix}{name}");
        match value {
            Value::Dict(_, inner) => flatten(&format!("{name}."), inner, leaves),
            leaf => leaves.push((name, leaf)),
        }
    }
}

fn unknown(name: String, place: String, known: impl Iterator<Item = String>) -> ConfigError {
    let nearest = known
        .map(|known| (strsim::jaro_winkler(&name, &known), known))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, known)| known);
    ConfigError::Unknown { name, place, nearest }
}
