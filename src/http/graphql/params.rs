//! The parameters of a GraphQL request.

use async_graphql::{Name, Variables};
use axum::{extract::Query, http::Uri};

use crate::{chat::json::Json, graphql::json, http::refusal::Refusal};

/// What to run.
pub(super) struct Params {
    pub(super) query: String,
    pub(super) operation_name: Option<String>,
    pub(super) variables: Variables,
}

impl Params {
    /// The parameters in the body of a POST. Members that the specification does not name are ignored, as it asks.
    pub(super) fn from_json(body: &[u8]) -> Result<Self, Refusal> {
        let members = match Json::parse(body) {
            Ok(Json::Object(members)) => members,
            Ok(Json::Array(_)) => {
                return Err(Refusal::bad_input("batches are not supported: send one request"));
            }
            Ok(_) => return Err(Refusal::bad_input("the body must be a JSON object")),
            Err(error) => return Err(Refusal::bad_input(format!("the body is not JSON: {error}"))),
        };
        let mut found = Found::default();
        for (name, value) in members {
            found.take(&name, value)?;
        }
        found.into_params().ok_or_else(no_query)
    }

    /// The parameters in the URL of a GET, none when there is no `query` among them.
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
        Ok(found.into_params())
    }
}

pub(super) fn no_query() -> Refusal {
    Refusal::bad_input("the request has no `query`")
}

#[derive(Default)]
struct Found {
    seen: Vec<String>,
    query: Option<String>,
    operation_name: Option<String>,
    variables: Variables,
}

impl Found {
    fn take(&mut self, name: &str, value: Json) -> Result<(), Refusal> {
        if !matches!(name, "query" | "operationName" | "variables" | "extensions") {
            return Ok(());
        }
        if self.seen.iter().any(|seen| seen == name) {
            return Err(Refusal::bad_input(format!("`{name}` is given twice")));
        }
        self.seen.push(name.to_owned());
        match (name, value) {
            (_, Json::Null) => {}
            ("query", Json::String(query)) => self.query = Some(query),
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

    fn into_params(self) -> Option<Params> {
        let Self {
            query,
            operation_name,
            variables,
            ..
        } = self;
        query.map(|query| Params {
            query,
            operation_name,
            variables,
        })
    }
}
