//! `JSON` and `DateTime`.

use async_graphql::{InputValueError, InputValueResult, Scalar, ScalarType, Value};
use chrono::{DateTime, SecondsFormat, Utc};

use super::json;
use crate::chat::{content::Content, json::Json};

/// JSON that came in, and content that goes out as it is stored.
pub enum JsonScalar {
    /// A value of the request, or why it is no JSON: the field that takes it refuses it, so that its siblings are
    /// answered.
    Given(Result<Json, String>),
    /// A stored content.
    Stored(Content),
}

/// Any JSON value. It comes back exactly as it was written: every key in its order, every digit.
#[Scalar(name = "JSON", specified_by_url = "https://www.rfc-editor.org/rfc/rfc8259")]
impl ScalarType for JsonScalar {
    fn parse(value: Value) -> InputValueResult<Self> {
        Ok(Self::Given(json::from_value(value)))
    }

    fn to_value(&self) -> Value {
        match self {
            Self::Given(json) => json.clone().map_or(Value::Null, json::read),
            // The answer's writer copies bytes as they are.
            Self::Stored(content) => Value::Binary(content.as_str().to_owned().into()),
        }
    }
}

/// A time, always with six digits of a second.
pub struct Time(pub DateTime<Utc>);

/// RFC 3339, UTC.
#[Scalar(
    name = "DateTime",
    specified_by_url = "https://www.rfc-editor.org/rfc/rfc3339"
)]
impl ScalarType for Time {
    fn parse(value: Value) -> InputValueResult<Self> {
        match &value {
            Value::String(text) => Ok(Self(DateTime::parse_from_rfc3339(text)?.to_utc())),
            _ => Err(InputValueError::expected_type(value)),
        }
    }

    fn to_value(&self) -> Value {
        Value::String(self.0.to_rfc3339_opts(SecondsFormat::Micros, true))
    }
}
