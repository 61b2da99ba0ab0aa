//! What can go wrong, in the words that the interfaces answer with.

/// The result of whatever the [`Gateway`](super::gateway::Gateway) does.
pub type Result<T, E = Error> = std::result::Result<T, E>;

type Source = Box<dyn std::error::Error + Send + Sync>;

/// A refusal or a failure. The text says what to do and never holds SQL, a token, a cursor or message text.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An argument is out of its range or not of its form.
    #[error("{0}")]
    BadInput(String),
    /// The cursor was not issued for this list and viewer.
    #[error("this cursor was not issued by this server for this list; read the newest page without a cursor")]
    InvalidCursor,
    /// What is named does not exist, or the viewer may not see it.
    #[error("{0} was not found")]
    NotFound(&'static str),
    /// The viewer may not do this.
    #[error("{0}")]
    Forbidden(&'static str),
    /// The thread has moved past what was named, or a turn id was used for another turn.
    #[error("{0}")]
    Conflict(String),
    /// A request asks for more than these bytes of content.
    #[error("the request reads more than {0} bytes of content; ask for fewer items or lists at once")]
    TooMuch(usize),
    /// The database cannot be reached or took too long.
    #[error("the database cannot be reached or took too long; try again later")]
    Unavailable(#[source] Source),
    /// Our fault.
    #[error("internal error; nothing was written")]
    Internal(#[source] Source),
}

impl Error {
    /// A [`BadInput`](Self::BadInput) from anything that can be shown.
    pub fn bad_input(message: impl Into<String>) -> Self {
        Self::BadInput(message.into())
    }

    /// The code that the interfaces answer with.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::BadInput(_) => ErrorCode::BadUserInput,
            Self::InvalidCursor => ErrorCode::InvalidCursor,
            Self::NotFound(_) => ErrorCode::NotFound,
            Self::Forbidden(_) => ErrorCode::Forbidden,
            Self::Conflict(_) => ErrorCode::Conflict,
            Self::TooMuch(_) => ErrorCode::QueryTooComplex,
            Self::Unavailable(_) => ErrorCode::ServiceUnavailable,
            Self::Internal(_) => ErrorCode::InternalServerError,
        }
    }
}

/// The values of `errors[].extensions.code` and of a problem's `code`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorCode {
    /// The token is missing, expired or not ours.
    Unauthenticated,
    /// The viewer may not do this.
    Forbidden,
    /// What is named does not exist, or the viewer may not see it.
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
    /// Too many requests at once.
    RateLimited,
    /// The database cannot be reached or took too long.
    ServiceUnavailable,
    /// Our fault. Nothing was written.
    InternalServerError,
}

impl ErrorCode {
    /// The name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unauthenticated => "UNAUTHENTICATED",
            Self::Forbidden => "FORBIDDEN",
            Self::NotFound => "NOT_FOUND",
            Self::InvalidCursor => "INVALID_CURSOR",
            Self::BadUserInput => "BAD_USER_INPUT",
            Self::Conflict => "CONFLICT",
            Self::GraphqlValidationFailed => "GRAPHQL_VALIDATION_FAILED",
            Self::QueryTooComplex => "QUERY_TOO_COMPLEX",
            Self::RateLimited => "RATE_LIMITED",
            Self::ServiceUnavailable => "SERVICE_UNAVAILABLE",
            Self::InternalServerError => "INTERNAL_SERVER_ERROR",
        }
    }
}
