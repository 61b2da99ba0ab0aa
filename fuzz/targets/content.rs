//! What a message says, as bytes of anybody: refused, or kept to the digit.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::value::RawValue;
use threadline::{
    chat::{content::Content, json::Json},
    graphql::json,
};

const MOST_BYTES: usize = 256 * 1024;

fuzz_target!(|text: &[u8]| {
    let Ok(read) = Json::parse(text) else {
        return;
    };
    // What is taken is JSON by another parser's judgement too, and says the same, token by token.
    let given = std::str::from_utf8(text).expect("JSON is UTF-8");
    serde_json::from_str::<&RawValue>(given).expect("serde_json reads it as well");
    let kept = read.to_string();
    assert_eq!(tokens(given), tokens(&kept));
    assert_eq!(Json::parse(kept.as_bytes()).expect("it can be read again"), read);

    // The way through GraphQL's values changes nothing.
    let mut written = Vec::new();
    json::write(&json::read(read.clone()), &mut written);
    assert_eq!(written, kept.as_bytes());
    assert_eq!(json::from_value(json::read(read.clone())).as_ref(), Ok(&read));

    if let Ok(content) = Content::new(&read, "content", MOST_BYTES) {
        assert_eq!(content.as_str(), kept);
        assert!(!content.is_silent() || content.text().trim_matches('\n').is_empty());
    }
});

/// The tokens of a JSON text: strings as what they say, everything else as it is spelled.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start_matches(WHITE_SPACE);
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => string_length(rest),
            '[' | ']' | '{' | '}' | ',' | ':' => 1,
            _ => rest
                .find(|c| WHITE_SPACE.contains(&c) || "[]{},:\"".contains(c))
                .unwrap_or(rest.len()),
        };
        let (token, after) = rest.split_at(length);
        tokens.push(match first {
            '"' => Token::String(serde_json::from_str(token).expect("a string of JSON")),
            _ => Token::Other(token),
        });
        rest = after.trim_start_matches(WHITE_SPACE);
    }
    tokens
}

const WHITE_SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

#[derive(Debug, PartialEq)]
enum Token<'a> {
    String(String),
    Other(&'a str),
}

fn string_length(text: &str) -> usize {
    let mut escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.expect("a string of JSON ends") + 2
}
