//! Contents of the sample, written straight as the compact JSON that a checked content has.

use rand::{Rng, rngs::StdRng};
use serde_json::Value;

use super::texts::{self, Tool};

/// What a person asks; now and then with a file, and now and then in odd characters.
pub(super) fn question(rng: &mut StdRng, agent: &str) -> String {
    let text = match rng.random_range(0..40) {
        0 => texts::pick(rng, texts::ODD).to_owned(),
        _ => texts::question(rng, agent),
    };
    let mut parts = vec![text_part("text", &text)];
    if rng.random_ratio(1, 20) {
        let number: u32 = rng.random_range(1_000..10_000);
        let size: u32 = rng.random_range(20_000..4_000_000);
        parts.push(format!(
            r#"{{"type":"file","mediaType":"image/jpeg","url":"https://files.example.com/photos/{number}.jpg","filename":"IMG_{number}.jpg","size":{size}}}"#
        ));
    }
    content(&parts)
}

/// What an agent answers; now and then with what it thought, and where its trace is kept.
pub(super) fn answer(rng: &mut StdRng, agent: &str) -> String {
    let mut parts = Vec::new();
    if rng.random_ratio(1, 6) {
        parts.push(text_part("reasoning", texts::pick(rng, texts::THOUGHTS)));
    }
    parts.push(text_part("text", &texts::answer(rng, agent)));
    if rng.random_ratio(1, 8) {
        let trace: u128 = rng.random();
        parts.push(format!(r#"{{"type":"ref","kind":"trace","id":"{trace:032x}"}}"#));
    }
    content(&parts)
}

/// An answer that breaks off.
pub(super) fn cut_off(rng: &mut StdRng, agent: &str) -> String {
    let whole = texts::answer(rng, agent);
    let kept: String = whole.chars().take(whole.chars().count() / 2).collect();
    content(&[text_part("text", kept.trim_end())])
}

/// A tool's call and its result.
pub(super) fn tool(rng: &mut StdRng, tool: &Tool) -> (String, String) {
    let id: u64 = rng.random();
    let number: u32 = rng.random_range(10_000..100_000);
    let fill = |text: &str| text.replace("{n}", &number.to_string());
    let (name, input) = (tool.name, fill(tool.input));
    let mut call = Vec::new();
    if rng.random_ratio(1, 3) {
        call.push(text_part("reasoning", texts::pick(rng, texts::THOUGHTS)));
    }
    call.push(format!(
        r#"{{"type":"tool-call","toolCallId":"call_{id:016x}","toolName":"{name}","input":{input}}}"#
    ));
    let (output, is_error) = match rng.random_range(0..25) {
        0 => (
            r#""upstream timed out after 10 s""#.to_owned(),
            r#","isError":true"#,
        ),
        _ => (fill(tool.output), ""),
    };
    let result = format!(
        r#"{{"type":"tool-result","toolCallId":"call_{id:016x}","toolName":"{name}","output":{output}{is_error}}}"#
    );
    (content(&call), content(&[result]))
}

fn text_part(kind: &str, text: &str) -> String {
    format!(r#"{{"type":"{kind}","text":{}}}"#, Value::from(text))
}

fn content(parts: &[String]) -> String {
    format!(r#"{{"parts":[{}]}}"#, parts.join(","))
}
