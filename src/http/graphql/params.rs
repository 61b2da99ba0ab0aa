//! The parameters of a GraphQL request.

use async_graphql::{Name, Variables};
use axum::{extract::Query, http::Uri};

use crate::{
    chat::json::Json,
    graphql::json,
    http::{documents::Asked, refusal::Refusal},
};

/// What to run.
pub(super) struct Params {
    pub(super) asked: Asked,
    pub(super) operation_name: Option<String>,
    pub(super) variables: Variables,
}

impl Params {
    /// The parameters in the body of a POST. Members that the specification does not name are ignored, as it asks.
    pub(super) fn from_json(body: &[u8], most_values: usize) -> Result<Self, Refusal> {
        // However long a batch is, its first byte tells.
        if body.trim_ascii_start().starts_with(b"[") {
            return Err(Refusal::bad_input("batches are not supported: send one request"));
        }
        if about_values(body) > most_values {
            return Err(Refusal::bad_input(format!(
                "the request has more than {most_values} JSON values"
            )));
        }
        let members = match Json::parse(body) {
            Ok(Json::Object(members)) => members,
            Ok(_) => return Err(Refusal::bad_input("the body must be a JSON object")),
            Err(error) => return Err(Refusal::bad_input(format!("the body is not JSON: {error}"))),
        };
        let mut found = Found::default();
        for (name, value) in members {
            found.take(&name, value)?;
        }
        found.into_params()?.ok_or_else(nothing_asked)
    }

    /// The parameters in the URL of a GET, none when they ask for nothing.
    pub(super) fn from_query(uri: &Uri) -> Result<Option<Self>, Refusal> {
        let Query(pairs) = Query::<Vec<(String, String)>>::try_from_uri(uri)
            .map_err(|_| Refusal::bad_input("the query string cannot be read"))?;
        let mut found = Found::default();
        for (name, text) in pairs {
            let value = match name.as_str() {
                "variables" | "extensions" if !text.is_empty() => Json::parse(text.as_bytes())
                    .map_err(|error| Refusal::bad_input(format!("`{name}` is not JSON: {error}")))?,
                _ if text.is_empty() => Json::Null,
                _ => Json::String(text),
            };
            found.take(&name, value)?;
        }
        found.into_params()
    }
}

pub(super) fn nothing_asked() -> Refusal {
    Refusal::bad_input("the request has no `query`")
}

#[derive(Default)]
struct Found {
    seen: Vec<String>,
    query: Option<String>,
    document_id: Option<String>,
    operation_name: Option<String>,
    variables: Variables,
}

impl Found {
    fn take(&mut self, name: &str, value: Json) -> Result<(), Refusal> {
        if !matches!(
            name,
            "query" | "documentId" | "operationName" | "variables" | "extensions"
        ) {
            return Ok(());
        }
        if self.seen.iter().any(|seen| seen == name) {
            return Err(Refusal::bad_input(format!("`{name}` is given twice")));
        }
        self.seen.push(name.to_owned());
        match (name, value) {
            (_, Json::Null) => {}
            ("query", Json::String(query)) => self.query = Some(query),
            ("documentId", Json::String(id)) => self.document_id = Some(id),
            ("operationName", Json::String(operation)) => self.operation_name = Some(operation),
            ("variables", Json::Object(members)) => {
                for (name, value) in members {
                    self.variables.insert(Name::new(name), json::read(value));
                }
            }
            ("extensions", Json::Object(_)) => {}
            ("variables" | "extensions", _) => {
                return Err(Refusal::bad_input(format!("`{name}` must be an object")));
            }
            _ => return Err(Refusal::bad_input(format!("`{name}` must be a string"))),
        }
        Ok(())
    }

    fn into_params(self) -> Result<Option<Params>, Refusal> {
        let asked = match (self.query, self.document_id) {
            (None, None) => return Ok(None),
            (Some(query), None) => Asked::Document(query),
            (None, Some(id)) => Asked::Id(id),
            (Some(_), Some(_)) => {
                return Err(Refusal::bad_input("send `query` or `documentId`, not both"));
            }
        };
        Ok(Some(Params {
            asked,
            operation_name: self.operation_name,
            variables: self.variables,
        }))
    }
}

/// How many values a JSON text has, an empty array or object counted as two. In memory each takes a hundred bytes and
/// more, however short it was written.
fn about_values(text: &[u8]) -> usize {
    let (mut values, mut in_string, mut escaped) = (1, false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b',' | b'[' | b'{' if !in_string => values += 1,
            _ => {}
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_outside_strings() {
        for (text, values) in [
            ("1", 1),
            ("[1,2,3]", 4),
            (r#"{"query":"{a,b,[","variables":{"a":[]}}"#, 5),
            (r#"["\"[,{","\\",1]"#, 4),
        ] {
            assert_eq!(about_values(text.as_bytes()), values, "{text}");
        }
        let body = format!(r#"{{"query":"","variables":{{"v":[{}1]}}}}"#, "1,".repeat(95));
        assert!(Params::from_json(body.as_bytes(), 100).is_ok());
        assert!(Params::from_json(body.as_bytes(), 99).is_err());
    }
}
