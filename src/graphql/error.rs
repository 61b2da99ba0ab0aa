//! Refusals and failures as GraphQL tells them.

use async_graphql::{Enum, ErrorExtensions};

use crate::chat::error::{self, Error};

/// The values of `errors[].extensions.code`. Anything refused is refused with one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "error::ErrorCode")]
pub enum ErrorCode {
    /// The token is missing, expired or not ours.
    Unauthenticated,
    /// The token does not allow this.
    Forbidden,
    /// What a mutation names does not exist, or the viewer may not see it.
    NotFound,
    /// The cursor was not issued by this server for this list and viewer.
    InvalidCursor,
    /// An argument is out of its range or not of its form.
    BadUserInput,
    /// The turn id was used for another turn, or the thread has moved past what was named.
    Conflict,
    /// The document is not valid GraphQL.
    GraphqlValidationFailed,
    /// The document asks for too much at once.
    QueryTooComplex,
    /// Too many requests; try again after `extensions.retryAfterSeconds`.
    RateLimited,
    /// The database cannot be reached or took too long; trying again later may help.
    ServiceUnavailable,
    /// Our fault. Nothing was written.
    InternalServerError,
}

/// What a field that can fail returns: null with an error, or null because there is nothing, or a value.
///
/// async-graphql 7.2 drops the key of a failing `Result<T>` from the answer; an `Option` around it keeps it.
pub type Field<T> = Option<async_graphql::Result<T>>;

/// The field of a result.
pub fn field<T>(result: Result<T, Error>) -> Field<T> {
    Some(result.map_err(|error| to_graphql(&error)))
}

/// The field of a result that may be nothing.
pub fn maybe<T>(result: Result<Option<T>, Error>) -> Field<T> {
    field(result).map(Result::transpose).unwrap_or_default()
}

/// The error as GraphQL tells it; what is not the caller's doing is logged here.
pub fn to_graphql(error: &Error) -> async_graphql::Error {
    if let Error::Unavailable(source) | Error::Internal(source) = error {
        tracing::error!(code = error.code().as_str(), %source, "a field failed");
    }
    async_graphql::Error::new(error.to_string())
        .extend_with(|_, extensions| extensions.set("code", error.code().as_str()))
}
