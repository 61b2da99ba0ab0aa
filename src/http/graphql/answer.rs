//! The answer to a GraphQL request, written by our own hand: stored content is copied into it byte by byte.

use async_graphql::{Name, PathSegment, ServerError, Value, indexmap::IndexMap};
use axum::{
    Extension,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};

use super::accept::Media;
use crate::{
    chat::error::ErrorCode,
    graphql::json,
    http::{
        observe::{Code, Operation},
        refusal::cut,
    },
};

/// The most errors in one answer.
const MAX_ERRORS: usize = 10;

/// The answer to a document that did not get to run: it has no `data`.
pub(super) fn refused(errors: Vec<ServerError>, media: Media) -> Response {
    respond(media.refused(), None, errors, media)
}

/// The answer of the schema. Errors without any path are of the request, not of a field: no operation was run.
pub(super) fn executed(response: async_graphql::Response, operation: String, media: Media) -> Response {
    let no_field = |error: &ServerError| error.path.is_empty();
    if response.data == Value::Null && response.errors.iter().all(no_field) && !response.errors.is_empty() {
        return refused(response.errors, media);
    }
    let answer = respond(StatusCode::OK, Some(&response.data), response.errors, media);
    (Extension(Operation(operation)), answer).into_response()
}

fn respond(status: StatusCode, data: Option<&Value>, errors: Vec<ServerError>, media: Media) -> Response {
    let code = errors.first().map(|error| Extension(Code(code_of(error))));
    let mut body = b"{".to_vec();
    if !errors.is_empty() {
        body.extend_from_slice(b"\"errors\":");
        json::write(
            &Value::List(errors.into_iter().take(MAX_ERRORS).map(public).collect()),
            &mut body,
        );
    }
    if let Some(data) = data {
        body.extend_from_slice(if body.len() > 1 {
            b",\"data\":"
        } else {
            b"\"data\":"
        });
        json::write(data, &mut body);
    }
    body.push(b'}');
    (
        status,
        code,
        [(header::CONTENT_TYPE, HeaderValue::from_static(media.as_str()))],
        body,
    )
        .into_response()
}

/// An error as it may leave the house: with a code, of bounded length, and without the values that were sent.
fn public(error: ServerError) -> Value {
    let mut members = IndexMap::new();
    let mut set = |name, value| members.insert(Name::new(name), value);
    let code = code_of(&error);
    set("message", Value::from(cut(without_input(&error.message))));
    if !error.locations.is_empty() {
        let place = |line: usize, column: usize| {
            Value::Object(
                [("line", line), ("column", column)]
                    .map(|(n, v)| (Name::new(n), v.into()))
                    .into(),
            )
        };
        set(
            "locations",
            error
                .locations
                .iter()
                .map(|pos| place(pos.line, pos.column))
                .collect(),
        );
    }
    if !error.path.is_empty() {
        set("path", error.path.into_iter().map(segment).collect());
    }
    let mut extensions = IndexMap::from([(Name::new("code"), Value::from(code))]);
    let retry = "retryAfterSeconds";
    if let Some(value) = error.extensions.as_ref().and_then(|values| values.get(retry)) {
        extensions.insert(Name::new(retry), value.clone());
    }
    set("extensions", Value::Object(extensions));
    Value::Object(members)
}

/// async-graphql ends its complaints about an input with the input itself, which may be what somebody said.
fn without_input(message: &str) -> &str {
    let ends = [", found ", " does not contain the value "].map(|end| message.find(end));
    let end = ends.into_iter().flatten().min();
    &message[..end.unwrap_or(message.len())]
}

/// The code of an error: its own, or a fitting one where async-graphql made it.
fn code_of(error: &ServerError) -> String {
    if let Some(Value::String(code)) = error.extensions.as_ref().and_then(|values| values.get("code")) {
        return code.clone();
    }
    let code = if !error.path.is_empty() || error.message.starts_with("Invalid value for argument") {
        ErrorCode::BadUserInput
    } else {
        ErrorCode::GraphqlValidationFailed
    };
    code.as_str().to_owned()
}

fn segment(segment: PathSegment) -> Value {
    match segment {
        PathSegment::Field(name) => Value::from(name),
        PathSegment::Index(index) => Value::from(index),
    }
}

#[cfg(test)]
mod tests {
    use async_graphql::ErrorExtensionValues;

    use super::*;

    fn written(error: ServerError) -> String {
        let mut out = Vec::new();
        json::write(&public(error), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn an_error_keeps_its_code_or_gets_one() {
        let mut error = ServerError::new("no", None);
        assert!(written(error.clone()).ends_with(r#""extensions":{"code":"GRAPHQL_VALIDATION_FAILED"}}"#));
        error.path = vec![PathSegment::Field("a".to_owned()), PathSegment::Index(1)];
        assert!(written(error.clone()).contains(r#""path":["a",1],"extensions":{"code":"BAD_USER_INPUT"}"#));
        let mut extensions = ErrorExtensionValues::default();
        extensions.set("code", "CONFLICT");
        error.extensions = Some(extensions);
        assert!(written(error).ends_with(r#""extensions":{"code":"CONFLICT"}}"#));
        let argument = ServerError::new(
            "Invalid value for argument \"limit\", expected type \"Int\"",
            None,
        );
        assert!(written(argument).contains("BAD_USER_INPUT"));
    }

    #[test]
    fn an_error_is_cut_at_a_character_and_never_echoes_a_value() {
        let long = written(ServerError::new("é".repeat(1_000), None));
        assert!(long.contains(&format!("\"{}\"", "é".repeat(300))));
        let echo = written(ServerError::new(
            "Expected input type \"Int\", found \"a secret\".",
            None,
        ));
        assert!(echo.contains("Expected input type") && !echo.contains("secret"));
        let echo = "argument \"role\", enumeration type \"Role\" does not contain the value \"a secret\"";
        assert!(!written(ServerError::new(echo, None)).contains("secret"));
    }
}
