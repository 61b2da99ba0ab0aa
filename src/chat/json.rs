//! JSON read strictly and written back exactly: key order and the digits of numbers survive.
//!
//! `serde_json::Value` would respell `1e400` and fold duplicate keys, and `jsonb` refuses `\u0000`;
//! what people and tools said has to come back as it was written, so a document is kept as this tree
//! and stored as its compact text.

use std::{collections::HashSet, fmt};

use struson::reader::{
    JsonReader, JsonReaderPosition, JsonStreamReader, ReaderError, ReaderSettings, ValueType,
    json_path::JsonPathPiece,
};

/// How deep a document may nest before it is refused; a message's content has a tighter bound of its own.
const MAX_NESTING: u32 = 128;

/// A JSON value. Numbers keep their text, objects keep the order of their keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as it was spelled.
    Number(String),
    /// A string, unescaped.
    String(String),
    /// An array.
    Array(Vec<Json>),
    /// An object; no key stands in it twice.
    Object(Vec<(String, Json)>),
}

/// Why a text is not JSON that can be kept exactly, and where.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct JsonError(String);

impl Json {
    /// Reads one document.
    ///
    /// # Errors
    /// On anything RFC 8259 does not allow, and on what could not be given back as it came: duplicate keys,
    /// lone surrogates, invalid UTF-8, nesting deeper than 128.
    pub fn parse(text: &[u8]) -> Result<Self, JsonError> {
        let settings = ReaderSettings {
            max_nesting_depth: Some(MAX_NESTING),
            restrict_number_values: false,
            ..ReaderSettings::default()
        };
        let mut reader = JsonStreamReader::new_custom(text, settings);
        let value = read(&mut reader)?;
        reader.consume_trailing_whitespace()?;
        Ok(value)
    }

    /// The value of a key, when this is an object that has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members
                .iter()
                .find(|(name, _)| name == key)
                .map(|(_, value)| value),
            _ => None,
        }
    }

    /// The text, when this is a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// How deep arrays and objects nest, this one counted as 1; 0 for anything else.
    #[must_use]
    pub fn depth(&self) -> usize {
        match self {
            Self::Array(items) => 1 + items.iter().map(Self::depth).max().unwrap_or(0),
            Self::Object(members) => 1 + members.iter().map(|(_, value)| value.depth()).max().unwrap_or(0),
            _ => 0,
        }
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(true) => out.push_str("true"),
            Self::Bool(false) => out.push_str("false"),
            Self::Number(digits) => out.push_str(digits),
            Self::String(text) => write_string(text, out),
            Self::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (index, (name, value)) in members.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    write_string(name, out);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }
}

impl fmt::Display for Json {
    /// The compact text: no white space, and one spelling for each string.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        self.write(&mut out);
        f.write_str(&out)
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<ReaderError> for JsonError {
    fn from(error: ReaderError) -> Self {
        match error {
            ReaderError::SyntaxError(error) => Self(format!(
                "{}{}",
                words(&format!("{:?}", error.kind)),
                place(&error.location)
            )),
            other => Self(other.to_string()),
        }
    }
}

/// `MissingComma` as `missing comma`.
fn words(name: &str) -> String {
    let mut words = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(c.to_lowercase());
    }
    words
}

/// Where that is, counted from 1. Most documents are one line, and often a line of a file with a number of its own.
fn place(position: &JsonReaderPosition) -> String {
    let mut place = String::new();
    if let Some(at) = &position.line_pos {
        place.push_str(" at ");
        if at.line > 0 {
            place.push_str(&format!("line {}, ", at.line + 1));
        }
        place.push_str(&format!("column {}", at.column + 1));
    }
    if let Some(path) = &position.path {
        let pieces = path.iter().map(|piece| match piece {
            JsonPathPiece::ArrayItem(index) => format!("[{index}]"),
            JsonPathPiece::ObjectMember(name) => format!(".{name}"),
        });
        place.push_str(&format!(" (${})", pieces.collect::<String>()));
    }
    place
}

/// Writes a string's JSON text.
pub(super) fn write_string(text: &str, out: &mut String) {
    out.push_str(&serde_json::to_string(text).expect("a string always has a JSON text"));
}

fn read(reader: &mut JsonStreamReader<&[u8]>) -> Result<Json, JsonError> {
    Ok(match reader.peek()? {
        ValueType::Null => {
            reader.next_null()?;
            Json::Null
        }
        ValueType::Boolean => Json::Bool(reader.next_bool()?),
        ValueType::Number => Json::Number(reader.next_number_as_string()?),
        ValueType::String => Json::String(reader.next_string()?),
        ValueType::Array => {
            reader.begin_array()?;
            let mut items = Vec::new();
            while reader.has_next()? {
                items.push(read(reader)?);
            }
            reader.end_array()?;
            Json::Array(items)
        }
        ValueType::Object => {
            reader.begin_object()?;
            let mut members = Vec::new();
            let mut seen = HashSet::new();
            while reader.has_next()? {
                let name = reader.next_name_owned()?;
                if !seen.insert(name.clone()) {
                    let place = place(&reader.current_position(true));
                    return Err(JsonError(format!("duplicate key{place}")));
                }
                members.push((name, read(reader)?));
            }
            reader.end_object()?;
            Json::Object(members)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::Json;

    fn kept(text: &str) -> String {
        Json::parse(text.as_bytes()).unwrap().to_string()
    }

    fn refused(text: &[u8]) -> String {
        Json::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn every_digit_and_every_key_comes_back_in_its_place() {
        for text in [
            r#"{"z":1.0,"a":1e400,"m":-0,"k":12345678901234567890,"e":1E+5,"d":0.10}"#,
            r#"["\u0000","é😀","\n","\"\\"]"#,
            r#"{"$serde_json::private::Number":"5","$serde_json::private::RawValue":"[]"}"#,
            "[]",
            "{}",
        ] {
            assert_eq!(kept(text), text);
        }
    }

    #[test]
    fn white_space_and_escape_spelling_are_normalised() {
        assert_eq!(kept(" { \"\\u0061\" : [ 1 , \"\\/\" ] } "), r#"{"a":[1,"/"]}"#);
    }

    #[test]
    fn what_cannot_be_kept_exactly_is_refused_with_its_place() {
        assert_eq!(
            refused(br#"{"a":{"b":1,"b":2}}"#),
            "duplicate key at column 16 ($.a.b)"
        );
        assert!(refused(br#"{"a":["\ud800"]}"#).contains("$.a[0]"));
        assert!(refused(b"[\"\xff\"]").contains("$[0]"));
        assert!(refused(b"[1,]").contains("$[1]"));
        assert_eq!(refused(b"[1] 2"), "trailing data at column 5 ($)");
        assert_eq!(
            refused(b"{\"a\":\n 1 \"b\":2}"),
            "missing comma at line 2, column 4 ($.a)"
        );
        let deep = "[".repeat(129) + &"]".repeat(129);
        assert!(refused(deep.as_bytes()).contains("nesting depth 128"));
    }

    #[test]
    fn depth_counts_the_outermost_as_one() {
        assert_eq!(Json::parse(b"1").unwrap().depth(), 0);
        assert_eq!(Json::parse(b"{}").unwrap().depth(), 1);
        assert_eq!(Json::parse(b"{\"a\":[[1]]}").unwrap().depth(), 3);
    }
}
