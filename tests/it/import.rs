//! Import and export: the same bytes again, and nothing at all when a line is wrong.

mod conflict;
mod export;
mod made;

use std::fmt::Write;

use crate::support::Key;

/// The line of a message with further fields, at a second of a day.
fn line(key: &Key, second: u32, fields: &str) -> String {
    let Key {
        agent,
        channel,
        person,
    } = key;
    format!(
        r#"{{"type":"message","agentId":"{agent}","channel":"{channel}","personId":"{person}","createdAt":"2026-03-01T10:{:02}:{:02}Z",{fields}}}"#,
        second / 60,
        second % 60
    ) + "\n"
}

/// Turns of a question and an answer, the lines of one after those of the other.
fn turns(key: &Key, seconds: impl IntoIterator<Item = u32>) -> String {
    seconds.into_iter().fold(String::new(), |mut lines, second| {
        for (role, text) in [("user", "question"), ("assistant", "answer")] {
            let said = format!(r#""turnId":"t{second}","role":"{role}","text":"{text} {second}""#);
            write!(lines, "{}", line(key, second, &said)).unwrap();
        }
        lines
    })
}
