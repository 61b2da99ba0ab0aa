//! GraphQL values and JSON text, both ways.
//!
//! The values' own `Serialize` is never used: it goes through serde_json's magic keys
//! (`$serde_json::private::…`), which what people say could contain.

use std::io::Write;

use async_graphql::{Name, Number, Value};

use crate::chat::json::Json;

/// Appends the JSON text of a value. [`Value::Binary`] is JSON text already, stored content, and is copied as it is.
pub fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Boolean(true) => out.extend_from_slice(b"true"),
        Value::Boolean(false) => out.extend_from_slice(b"false"),
        Value::Number(number) => write!(out, "{number}").expect("a vector takes every byte"),
        Value::String(text) => string(text, out),
        Value::Enum(name) => string(name, out),
        Value::Binary(json) => out.extend_from_slice(json),
        Value::List(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                comma(index, out);
                write(item, out);
            }
            out.push(b']');
        }
        Value::Object(members) => {
            out.push(b'{');
            for (index, (name, member)) in members.iter().enumerate() {
                comma(index, out);
                string(name, out);
                out.push(b':');
                write(member, out);
            }
            out.push(b'}');
        }
    }
}

/// The value of a JSON document; numbers keep their digits, objects the order of their keys.
#[must_use]
pub fn read(json: Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Boolean(value),
        Json::Number(digits) => Value::Number(Number::from_string_unchecked(digits)),
        Json::String(text) => Value::String(text),
        Json::Array(items) => Value::List(items.into_iter().map(read).collect()),
        Json::Object(members) => Value::Object(
            members
                .into_iter()
                .map(|(name, member)| (Name::new(name), read(member)))
                .collect(),
        ),
    }
}

/// The JSON of a value that a request brought in.
///
/// # Errors
/// When the value is an enum's name, which JSON does not have.
pub fn from_value(value: Value) -> Result<Json, String> {
    Ok(match value {
        Value::Null => Json::Null,
        Value::Boolean(value) => Json::Bool(value),
        Value::Number(number) => Json::Number(number.to_string()),
        Value::String(text) => Json::String(text),
        Value::List(items) => Json::Array(items.into_iter().map(from_value).collect::<Result<_, _>>()?),
        Value::Object(members) => {
            let member = |(name, member): (Name, Value)| Ok((name.to_string(), from_value(member)?));
            Json::Object(members.into_iter().map(member).collect::<Result<_, String>>()?)
        }
        Value::Enum(name) => return Err(format!("{name} is no JSON: write \"{name}\"")),
        Value::Binary(_) => return Err("bytes are no JSON".to_owned()),
    })
}

fn comma(index: usize, out: &mut Vec<u8>) {
    if index > 0 {
        out.push(b',');
    }
}

fn string(text: &str, out: &mut Vec<u8>) {
    serde_json::to_writer(out, text).expect("a string always has a JSON text");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(value: &Value) -> String {
        let mut out = Vec::new();
        write(value, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn json_comes_back_as_it_was_read() {
        for text in [
            r#"{"z":1.0,"a":1e400,"m":-0,"E":1E5,"k":123456789012345678901234567890}"#,
            r#"["\u0000","\"\\\n",null,true,false,[],{}]"#,
            r#"{"$serde_json::private::Number":"1","$serde_json::private::RawValue":"x"}"#,
        ] {
            let json = Json::parse(text.as_bytes()).unwrap();
            assert_eq!(written(&read(json.clone())), text);
            assert_eq!(from_value(read(json.clone())).unwrap(), json);
        }
    }

    #[test]
    fn stored_content_is_copied_and_enums_are_strings() {
        let stored = r#"{"parts" : [ 1E400 ]}"#;
        assert_eq!(written(&Value::Binary(stored.into())), stored);
        assert_eq!(written(&Value::Enum(Name::new("USER"))), r#""USER""#);
    }
}
