//! A request that is not answered, in the two shapes of the two interfaces.

use axum::{
    Extension,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::json;

use super::observe::Code;
use crate::chat::error::{Error, ErrorCode};

/// The most characters of what is told about an error.
const MAX_MESSAGE: usize = 300;

/// A message of bounded length: it may quote what was sent.
pub(super) fn cut(message: &str) -> String {
    message.chars().take(MAX_MESSAGE).collect()
}

/// Why a request is refused: the HTTP status, the code that programs read, and what people read.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    code: ErrorCode,
    message: String,
    /// After how many seconds it may be tried again, when that is known.
    retry_after: Option<u64>,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            status,
            code,
            message: cut(&message.into()),
            retry_after: None,
        }
    }

    /// 429: too many requests.
    pub(super) fn too_many(retry_after: u64) -> Self {
        let message = format!("too many requests; try again in {retry_after} s");
        Self {
            retry_after: Some(retry_after),
            ..Self::new(StatusCode::TOO_MANY_REQUESTS, ErrorCode::RateLimited, message)
        }
    }

    /// 400: the request is not of the right form.
    pub(super) fn bad_input(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, ErrorCode::BadUserInput, message)
    }

    pub(super) fn not_found(what: &'static str) -> Self {
        Error::NotFound(what).into()
    }

    /// The answer in the shape that a path speaks.
    pub(super) fn at(&self, path: &str) -> Response {
        if path == "/graphql" {
            self.graphql("application/json; charset=utf-8")
        } else {
            self.problem()
        }
    }

    /// The answer of GraphQL: a request error, which has no `data`.
    pub(super) fn graphql(&self, media: &'static str) -> Response {
        let mut error = json!({ "message": self.message, "extensions": { "code": self.code.as_str() } });
        if let Some(seconds) = self.retry_after {
            error["extensions"]["retryAfterSeconds"] = seconds.into();
        }
        self.response(media, json!({ "errors": [error] }).to_string())
    }

    /// The answer of everything else: RFC 9457's problem.
    pub(super) fn problem(&self) -> Response {
        self.response("application/problem+json", self.body())
    }

    /// The body of a problem.
    pub(super) fn body(&self) -> String {
        let body = json!({
            "type": "about:blank",
            "title": self.status.canonical_reason(),
            "status": self.status.as_u16(),
            "detail": self.message,
            "code": self.code.as_str(),
        });
        body.to_string()
    }

    fn response(&self, media: &'static str, body: String) -> Response {
        let media = HeaderValue::from_static(media);
        let code = Extension(Code::from(self.code));
        let head = [(header::CONTENT_TYPE, media)];
        let mut response = (self.status, code, head, body).into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        self.problem()
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        if let Error::Unavailable(source) | Error::Internal(source) = &error {
            tracing::error!(error = %source, "the gateway failed");
        }
        let status = match error.code() {
            ErrorCode::Unauthenticated => StatusCode::UNAUTHORIZED,
            ErrorCode::RateLimited => StatusCode::TOO_MANY_REQUESTS,
            ErrorCode::Forbidden => StatusCode::FORBIDDEN,
            ErrorCode::NotFound => StatusCode::NOT_FOUND,
            ErrorCode::Conflict => StatusCode::CONFLICT,
            ErrorCode::ServiceUnavailable => StatusCode::SERVICE_UNAVAILABLE,
            ErrorCode::InternalServerError => StatusCode::INTERNAL_SERVER_ERROR,
            ErrorCode::InvalidCursor
            | ErrorCode::BadUserInput
            | ErrorCode::GraphqlValidationFailed
            | ErrorCode::QueryTooComplex => StatusCode::BAD_REQUEST,
        };
        Self::new(status, error.code(), error.to_string())
    }
}
