//! One pass over the text of a document, in constant stack.
//!
//! It must agree with the parser about one thing only: where strings and comments end. Everything else it may
//! count too strictly, since the parser stops at the first thing that is not GraphQL.

use std::collections::HashSet;

use async_graphql::{Pos, ServerError};

use super::{Limits, invalid, numbers::Numbers, refusal, too_complex};
use crate::chat::error::ErrorCode;

/// Refuses a text that is too large to be parsed, or that has a key twice, which async-graphql would take in silence.
/// Gives the numbers that it would respell.
pub(super) fn scan<'a>(text: &'a str, limits: &Limits) -> Result<Numbers<'a>, ServerError> {
    if text.len() > limits.document_bytes {
        let message = format!(
            "the document has {} bytes; at most {}",
            text.len(),
            limits.document_bytes
        );
        return Err(too_complex(message, None));
    }
    Scanner {
        text,
        at: 0,
        tokens: 0,
        open: Vec::new(),
        groups: 0,
        name: None,
        numbers: Numbers::default(),
        limits,
    }
    .run()
}

/// A bracket that is not closed yet.
enum Open<'a> {
    /// `(`: what is inside are arguments or variable definitions.
    Group,
    /// `[`, or `{` of a selection set.
    Other,
    /// `{` of an input object, with the keys seen in it.
    Object(HashSet<&'a str>),
}

struct Scanner<'a, 'l> {
    text: &'a str,
    at: usize,
    tokens: usize,
    open: Vec<Open<'a>>,
    /// How many of `open` are groups: inside one, `{` begins an input object.
    groups: usize,
    /// The token just read, if it was a name.
    name: Option<&'a str>,
    numbers: Numbers<'a>,
    limits: &'l Limits,
}

impl<'a> Scanner<'a, '_> {
    fn run(mut self) -> Result<Numbers<'a>, ServerError> {
        while let Some(&byte) = self.text.as_bytes().get(self.at) {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' | b',' => self.at += 1,
                b'#' => self.at += self.count(|byte| !matches!(byte, b'\n' | b'\r')),
                _ => self.token(byte)?,
            }
        }
        Ok(self.numbers)
    }

    fn token(&mut self, byte: u8) -> Result<(), ServerError> {
        self.tokens += 1;
        if self.tokens > self.limits.tokens {
            let message = format!("the document has more than {} tokens", self.limits.tokens);
            return Err(too_complex(message, Some(self.pos())));
        }
        let before = self.name.take();
        let length = match byte {
            b'"' => self.string()?,
            b'-' | b'0'..=b'9' => self.number(),
            b'_' | b'a'..=b'z' | b'A'..=b'Z' => {
                let length = self.count(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
                self.name = Some(&self.text[self.at..self.at + length]);
                length
            }
            b'(' | b'[' | b'{' => self.opened(byte)?,
            b')' | b']' | b'}' => self.closed(),
            b':' => self.key(before)?,
            b'.' => self.count(|byte| byte == b'.').min(3),
            // Anything else is a punctuator, a byte order mark or no GraphQL at all: the parser tells.
            _ => self.rest().chars().next().map_or(1, char::len_utf8),
        };
        self.at += length;
        Ok(())
    }

    fn opened(&mut self, byte: u8) -> Result<usize, ServerError> {
        if self.open.len() >= self.limits.nesting {
            let message = format!("the document is nested more than {} deep", self.limits.nesting);
            return Err(too_complex(message, Some(self.pos())));
        }
        self.open.push(match byte {
            b'(' => Open::Group,
            b'{' if self.groups > 0 => Open::Object(HashSet::new()),
            _ => Open::Other,
        });
        self.groups += usize::from(byte == b'(');
        Ok(1)
    }

    fn closed(&mut self) -> usize {
        if let Some(Open::Group) = self.open.pop() {
            self.groups -= 1;
        }
        1
    }

    /// A colon in an input object makes the name before it a key.
    fn key(&mut self, name: Option<&'a str>) -> Result<usize, ServerError> {
        if let (Some(Open::Object(keys)), Some(name)) = (self.open.last_mut(), name)
            && !keys.insert(name)
        {
            let message = format!("the input object has the key \"{name}\" twice");
            return Err(refusal(ErrorCode::BadUserInput, message, Some(self.pos())));
        }
        Ok(1)
    }

    fn number(&mut self) -> usize {
        let text = self.rest();
        let length = number_length(text.as_bytes());
        let number = &text[..length];
        // What is not a number at all is left to the parser.
        let read = number.parse::<serde_json::Number>();
        if number.contains(['e', 'E']) && read.is_ok_and(|read| read.to_string() != number) {
            self.numbers.respelled.push((self.numbers.count, number));
        }
        self.numbers.count += 1;
        length
    }

    fn string(&self) -> Result<usize, ServerError> {
        let text = self.rest().as_bytes();
        let length = match text.strip_prefix(b"\"\"\"") {
            Some(block) => block_length(block).map(|length| length + 3),
            None => line_length(&text[1..]).map(|length| length + 1),
        };
        length.ok_or_else(|| invalid("the string is not closed", Some(self.pos())))
    }

    fn count(&self, keep: impl Fn(u8) -> bool) -> usize {
        self.rest().bytes().take_while(|&byte| keep(byte)).count()
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Where the scanner is, for people.
    fn pos(&self) -> Pos {
        let read = &self.text[..self.at];
        let line = read.matches('\n').count() + 1;
        let column = read.chars().rev().take_while(|&c| c != '\n').count() + 1;
        Pos { line, column }
    }
}

/// The length of a block string after its opening quotes, closing quotes included.
fn block_length(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        if rest.starts_with(b"\"\"\"") {
            return Some(at + 3);
        }
        at += if rest.starts_with(b"\\\"\"\"") { 4 } else { 1 };
    }
}

/// The length of a string after its opening quote, closing quote included.
fn line_length(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        match text.get(at)? {
            b'"' => return Some(at + 1),
            b'\n' | b'\r' => return None,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// The length of the number at the start of a text, read just as far as the grammar does: after a leading zero
/// comes no further digit.
fn number_length(text: &[u8]) -> usize {
    let digits = |from: usize| {
        text[from..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count()
    };
    let mut at = usize::from(text[0] == b'-');
    at += if text.get(at) == Some(&b'0') {
        1
    } else {
        digits(at)
    };
    if text.get(at) == Some(&b'.') {
        at += match digits(at + 1) {
            0 => 0,
            count => count + 1,
        };
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
        at += match digits(at + 1 + sign) {
            0 => 0,
            count => count + 1 + sign,
        };
    }
    at.max(1)
}
