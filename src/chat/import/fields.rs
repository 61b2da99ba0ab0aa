//! The fields of one object, taken one by one until none may be left.

use crate::chat::{
    error::{Error, Result},
    json::Json,
};

/// An object that is being read. A field that is null counts as one that is not there.
pub(super) struct Fields {
    /// What the object is called in errors: empty, or a path that ends in a dot.
    path: &'static str,
    members: Vec<(String, Json)>,
}

impl Fields {
    pub(super) fn new(path: &'static str, json: Json) -> Result<Self> {
        match json {
            Json::Object(members) => Ok(Self { path, members }),
            _ if path.is_empty() => Err(Error::bad_input("a line is a JSON object")),
            _ => Err(Error::BadInput(format!(
                "{} is an object",
                path.trim_end_matches('.')
            ))),
        }
    }

    pub(super) fn take(&mut self, name: &str) -> Option<Json> {
        let at = self.members.iter().position(|(member, _)| member == name)?;
        Some(self.members.remove(at).1).filter(|value| *value != Json::Null)
    }

    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>> {
        match self.take(name) {
            None => Ok(None),
            Some(Json::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.refuse(name, "is a string")),
        }
    }

    pub(super) fn needed_text(&mut self, name: &str) -> Result<String> {
        let text = self.text(name)?;
        text.ok_or_else(|| self.refuse(name, "is missing"))
    }

    pub(super) fn flag(&mut self, name: &str) -> Result<Option<bool>> {
        match self.take(name) {
            None => Ok(None),
            Some(Json::Bool(flag)) => Ok(Some(flag)),
            Some(_) => Err(self.refuse(name, "is true or false")),
        }
    }

    /// A number of at least 0.
    pub(super) fn count(&mut self, name: &str) -> Result<Option<i32>> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        let count = match &value {
            Json::Number(digits) => digits.parse().ok().filter(|count| *count >= 0),
            _ => None,
        };
        count
            .map(Some)
            .ok_or_else(|| self.refuse(name, "is a whole number from 0 to 2147483647"))
    }

    /// Refuses what nobody took.
    pub(super) fn finish(self) -> Result<()> {
        match self.members.first() {
            None => Ok(()),
            Some((name, _)) => Err(Error::BadInput(format!(
                "{}{name} is no field of such a line",
                self.path
            ))),
        }
    }

    pub(super) fn refuse(&self, name: &str, what: &str) -> Error {
        Error::BadInput(format!("{}{name} {what}", self.path))
    }
}
