//! What a message says: a JSON object of parts, checked once and then kept to the digit and byte.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    error::{Error, Result},
    json::Json,
};

/// How deep a content may nest, itself counted as 1.
const MAX_DEPTH: usize = 64;
/// How many parts a content may have.
const MAX_PARTS: usize = 200;
/// Part types that hold telemetry, which has a better home than a chat.
const TELEMETRY: [&str; 4] = ["trace", "span", "prompt", "log"];

/// A message's content: the compact text of a JSON object `{"parts": […]}`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Content(String);

impl Content {
    /// Checks a content and keeps it. `place` is where it stands in the input, for the errors.
    ///
    /// # Errors
    /// [`Error::BadInput`] naming the place of what is not as the contract says.
    pub fn new(json: &Json, place: &str, max_bytes: usize) -> Result<Self> {
        let refuse = |what: &str| Err(Error::BadInput(format!("{place}{what}")));
        if json.depth() > MAX_DEPTH {
            return refuse(&format!(" nests deeper than {MAX_DEPTH}"));
        }
        let Json::Object(_) = json else {
            return refuse(" must be a JSON object {\"parts\": […]}");
        };
        let Some(Json::Array(parts)) = json.get("parts") else {
            return refuse(".parts must be an array");
        };
        if parts.is_empty() || parts.len() > MAX_PARTS {
            return refuse(&format!(".parts must have 1 to {MAX_PARTS} parts"));
        }
        for (index, part) in parts.iter().enumerate() {
            check_part(part).map_err(|wrong| Error::BadInput(format!("{place}.parts[{index}]{wrong}")))?;
        }
        let text = json.to_string();
        if text.len() > max_bytes {
            return refuse(&format!(
                " is {} bytes of JSON, at most {max_bytes} are kept: store large things elsewhere and refer to them in a `ref` part",
                text.len()
            ));
        }
        Ok(Self(text))
    }

    /// A content that was checked when it was stored.
    #[must_use]
    pub const fn stored(text: String) -> Self {
        Self(text)
    }

    /// The content of a boundary.
    #[must_use]
    pub fn empty() -> Self {
        Self(r#"{"parts":[]}"#.to_owned())
    }

    /// The JSON text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The JSON text, given away.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }

    /// The `text` parts joined by a blank line.
    #[must_use]
    pub fn text(&self) -> String {
        let texts: Vec<_> = self.parts().iter().filter_map(Part::text).collect();
        texts.join("\n\n")
    }

    /// Whether there is nothing in it but empty texts.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        self.parts()
            .iter()
            .all(|part| part.text().is_some_and(|text| text.is_empty()))
    }

    /// The parts, as far as the context needs to know them.
    pub(super) fn parts(&self) -> Vec<Part<'_>> {
        let parsed: serde_json::Result<Parts<'_>> = serde_json::from_str(&self.0);
        parsed.map(|content| content.parts).unwrap_or_default()
    }

    /// The same content with only some of its parts.
    pub(super) fn keep_parts(&self, keep: &[bool]) -> Self {
        let Ok(Json::Object(mut members)) = Json::parse(self.0.as_bytes()) else {
            return self.clone();
        };
        for (name, value) in &mut members {
            if let ("parts", Json::Array(parts)) = (name.as_str(), value) {
                let mut kept = keep.iter();
                parts.retain(|_| kept.next().copied().unwrap_or(true));
            }
        }
        Self(Json::Object(members).to_string())
    }
}

#[derive(Deserialize)]
struct Parts<'a> {
    #[serde(borrow)]
    parts: Vec<Part<'a>>,
}

/// A part, read as little as needed: its other fields may be anything.
#[derive(Deserialize)]
pub(super) struct Part<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow, rename = "toolCallId")]
    tool_call_id: Option<&'a RawValue>,
}

/// A side of a tool's use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToolSide {
    Call,
    Result,
}

impl Part<'_> {
    fn text(&self) -> Option<String> {
        (self.kind == "text")
            .then(|| self.text.and_then(string))
            .flatten()
    }

    /// Which side of which tool call this part is, if any.
    pub(super) fn tool(&self) -> Option<(ToolSide, String)> {
        let side = match self.kind.as_ref() {
            "tool-call" => ToolSide::Call,
            "tool-result" => ToolSide::Result,
            _ => return None,
        };
        Some((side, self.tool_call_id.and_then(string)?))
    }
}

fn string(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

/// Says what is wrong with a part, beginning with the field's place in it.
fn check_part(part: &Json) -> std::result::Result<(), String> {
    let Json::Object(members) = part else {
        return Err(" must be an object".to_owned());
    };
    let kind = match part.get("type").and_then(Json::as_str) {
        Some(kind) if !kind.is_empty() => kind,
        _ => return Err(".type must be a string that is not empty".to_owned()),
    };
    if TELEMETRY.contains(&kind) {
        return Err(format!(
            " is telemetry ({kind}): keep it in the tracing system and refer to it in a part {{\"type\": \"ref\", \"kind\": …, \"id\": …}}"
        ));
    }
    let (strings, present): (&[&str], &[&str]) = match kind {
        "text" | "reasoning" => (&["text"], &[]),
        "tool-call" => (&["toolCallId", "toolName"], &["input"]),
        "tool-result" => (&["toolCallId", "toolName"], &["output"]),
        "file" => (&["mediaType", "url"], &[]),
        "ref" => (&["kind", "id"], &[]),
        _ => (&[], &[]),
    };
    for field in strings {
        if part.get(field).and_then(Json::as_str).is_none() {
            return Err(format!(".{field} must be a string"));
        }
    }
    for field in present {
        if part.get(field).is_none() {
            return Err(format!(".{field} must be there, whatever JSON it is"));
        }
    }
    if kind == "tool-result" && !matches!(part.get("isError"), None | Some(Json::Bool(_))) {
        return Err(".isError must be true or false".to_owned());
    }
    if kind == "file" && !matches!(part.get("filename"), None | Some(Json::String(_))) {
        return Err(".filename must be a string".to_owned());
    }
    if kind == "file" && !matches!(part.get("size"), None | Some(Json::Number(_))) {
        return Err(".size must be a number".to_owned());
    }
    let tool_data = |name: &str| matches!((kind, name), ("tool-call", "input") | ("tool-result", "output"));
    match members
        .iter()
        .filter(|(name, _)| !tool_data(name))
        .find_map(|(name, value)| data_url(name, value))
    {
        Some(place) => Err(format!(
            "{place} is a data: URL: store the bytes elsewhere and give a link, or a part {{\"type\": \"ref\", \"kind\": …, \"id\": …}}"
        )),
        None => Ok(()),
    }
}

/// The place of a `url` field that holds a `data:` URL, in a value named `name`.
fn data_url(name: &str, value: &Json) -> Option<String> {
    let inside = match value {
        Json::String(text) if name == "url" && is_data_url(text) => return Some(format!(".{name}")),
        Json::Array(items) => items
            .iter()
            .enumerate()
            .find_map(|(index, item)| data_url("", item).map(|at| format!("[{index}]{at}"))),
        Json::Object(members) => members.iter().find_map(|(name, value)| data_url(name, value)),
        _ => None,
    }?;
    Some(if name.is_empty() {
        inside
    } else {
        format!(".{name}{inside}")
    })
}

/// Whether a browser would read the text as a `data:` URL: the WHATWG URL parser strips leading C0 controls and
/// spaces, drops tabs and line ends anywhere, and ignores the scheme's case.
fn is_data_url(text: &str) -> bool {
    let mut seen = text
        .trim_start_matches(|c: char| c <= ' ')
        .chars()
        .filter(|c| !matches!(c, '\t' | '\n' | '\r'))
        .map(|c| c.to_ascii_lowercase());
    "data:".chars().all(|expected| seen.next() == Some(expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(text: &str) -> Result<Content> {
        Content::new(&Json::parse(text.as_bytes()).unwrap(), "content", 1000)
    }

    fn refusal(text: &str) -> String {
        content(text).unwrap_err().to_string()
    }

    #[test]
    fn known_parts_keep_their_other_keys_and_unknown_parts_are_kept() {
        let text = r#"{"z":1,"parts":[{"type":"text","text":"hi","providerOptions":{"a":1.0}},{"type":"data-x","text":7},{"type":"image","url":"https://x"}],"a":1e400}"#;
        assert_eq!(content(text).unwrap().as_str(), text);
    }

    #[test]
    fn text_is_the_text_parts_joined_by_a_blank_line() {
        let text = r#"{"parts":[{"type":"text","text":"a\u0000"},{"type":"reasoning","text":"no"},{"type":"data-x","text":7},{"text":"b","type":"text"}]}"#;
        assert_eq!(content(text).unwrap().text(), "a\0\n\nb");
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        for (text, place) in [
            ("[]", "content must be a JSON object"),
            ("{}", "content.parts must be an array"),
            (r#"{"parts":[]}"#, "content.parts must have 1 to 200"),
            (r#"{"parts":[1]}"#, "content.parts[0] must be an object"),
            (r#"{"parts":[{"text":"x"}]}"#, "content.parts[0].type"),
            (
                r#"{"parts":[{"type":"text"}]}"#,
                "content.parts[0].text must be a string",
            ),
            (
                r#"{"parts":[{"type":"text","text":null}]}"#,
                "content.parts[0].text must be a string",
            ),
            (
                r#"{"parts":[{"type":"tool-call","toolCallId":"1","toolName":"x"}]}"#,
                "content.parts[0].input",
            ),
            (r#"{"parts":[{"type":"span"}]}"#, "telemetry"),
            (
                r#"{"parts":[{"type":"file","mediaType":"a/b","url":" DA\nTA:x"}]}"#,
                "content.parts[0].url is a data: URL",
            ),
            (
                r#"{"parts":[{"type":"image","a":[{"url":"data:x"}]}]}"#,
                "content.parts[0].a[0].url is a data: URL",
            ),
        ] {
            assert!(
                refusal(text).starts_with(place) || refusal(text).contains(place),
                "{text}: {}",
                refusal(text)
            );
        }
    }

    #[test]
    fn a_tool_may_take_and_give_any_json() {
        assert!(
            content(
                r#"{"parts":[{"type":"tool-call","toolCallId":"1","toolName":"x","input":{"url":"data:x"}}]}"#
            )
            .is_ok()
        );
        assert!(content(r#"{"parts":[{"type":"tool-result","toolCallId":"1","toolName":"x","output":null,"isError":true}]}"#).is_ok());
    }

    #[test]
    fn nesting_of_64_is_kept_and_of_65_refused() {
        let nested = |depth: usize| {
            let inner = "[".repeat(depth - 3) + &"]".repeat(depth - 3);
            format!(r#"{{"parts":[{{"type":"x","v":{inner}}}]}}"#)
        };
        assert!(content(&nested(64)).is_ok());
        assert!(refusal(&nested(65)).contains("deeper than 64"));
    }

    #[test]
    fn the_size_limit_is_exact() {
        let sized = |bytes: usize| {
            format!(
                r#"{{"parts":[{{"type":"text","text":"{}"}}]}}"#,
                "x".repeat(bytes - 37)
            )
        };
        assert_eq!(content(&sized(1000)).unwrap().as_str().len(), 1000);
        assert!(content(&sized(1001)).is_err());
    }

    #[test]
    fn only_empty_texts_are_silence() {
        assert!(
            content(r#"{"parts":[{"type":"text","text":""},{"type":"text","text":""}]}"#)
                .unwrap()
                .is_silent()
        );
        assert!(
            !content(r#"{"parts":[{"type":"text","text":""},{"type":"x"}]}"#)
                .unwrap()
                .is_silent()
        );
        assert!(
            !content(r#"{"parts":[{"type":"text","text":" "}]}"#)
                .unwrap()
                .is_silent()
        );
    }
}
