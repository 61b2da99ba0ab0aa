//! Reads the paths in Rust source, well enough to see which part of the crate names which.

/// The parts of the crate that a file names by `crate::…`, `threadline::…` or enough `super::`s,
/// also inside braces.
pub fn parts_named<'a>(text: &str, module: &[String], parts: &[&'a str]) -> Vec<&'a str> {
    let tokens = tokens(text);
    let mut named = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let (root_reached, next) = leading_root(&tokens, at, module.len());
        if root_reached {
            named.extend(first_names(&tokens, next));
        }
        at = next.max(at + 1);
    }
    parts
        .iter()
        .copied()
        .filter(|part| named.iter().any(|name| name == part))
        .collect()
}

/// The first name of every path in a file: `axum` of `axum::Router` and of `use axum;`.
pub fn roots_of_paths(text: &str) -> Vec<String> {
    let tokens = tokens(text);
    let mut roots = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let follows_colons = at > 0 && tokens[at - 1] == "::" && at > 1 && is_name(&tokens[at - 2]);
        let leads = tokens.get(at + 1).is_some_and(|next| next == "::");
        let used = at > 0 && tokens[at - 1] == "use";
        if is_name(token) && !follows_colons && (leads || used) {
            roots.push(token.clone());
        }
    }
    roots
}

/// Whether a path that begins here reaches the crate's root, and where its next name stands.
fn leading_root(tokens: &[String], at: usize, depth: usize) -> (bool, usize) {
    let is_path = |at: usize| tokens.get(at + 1).is_some_and(|next| next == "::");
    match tokens[at].as_str() {
        "crate" | "threadline" if is_path(at) => (true, at + 2),
        "super" if is_path(at) => {
            let mut next = at;
            let mut climbed = 0;
            while tokens.get(next).is_some_and(|token| token == "super") && is_path(next) {
                climbed += 1;
                next += 2;
            }
            (climbed >= depth, next)
        }
        _ => (false, at),
    }
}

/// The name at this place, or the first names inside the braces at this place.
fn first_names(tokens: &[String], at: usize) -> Vec<String> {
    let Some(first) = tokens.get(at) else {
        return Vec::new();
    };
    if first != "{" {
        return vec![first.clone()];
    }
    let mut names = Vec::new();
    let mut depth = 0;
    for (offset, token) in tokens[at..].iter().enumerate() {
        match token.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            name if depth == 1 && matches!(tokens[at + offset - 1].as_str(), "{" | ",") => {
                names.push(name.to_owned());
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    names
}

fn is_name(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// Names, `::` and single characters; comments, strings and white space are left out.
fn tokens(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let rest = &chars[at..];
        let skipped = skipped(rest);
        if skipped > 0 {
            at += skipped;
        } else if rest[0].is_alphanumeric() || rest[0] == '_' {
            let length = rest
                .iter()
                .take_while(|c| c.is_alphanumeric() || **c == '_')
                .count();
            tokens.push(rest[..length].iter().collect());
            at += length;
        } else if rest.starts_with(&[':', ':']) {
            tokens.push("::".to_owned());
            at += 2;
        } else {
            tokens.push(rest[0].to_string());
            at += 1;
        }
    }
    tokens
}

/// How many characters of white space, comment or literal stand here.
fn skipped(rest: &[char]) -> usize {
    let until_end_of_line = || rest.iter().take_while(|c| **c != '\n').count();
    match rest {
        ['/', '/', ..] => until_end_of_line(),
        ['/', '*', ..] => {
            let end = rest.windows(2).skip(2).position(|pair| pair == ['*', '/']);
            end.map_or(rest.len(), |end| end + 4)
        }
        ['"', ..] => quoted(rest, 1),
        ['r', '#' | '"', ..] => raw_string(rest),
        ['\'', '\\', ..] => 1 + quoted_char(&rest[1..]),
        ['\'', _, '\'', ..] => 3,
        [first, ..] if first.is_whitespace() => 1,
        _ => 0,
    }
}

fn quoted(rest: &[char], from: usize) -> usize {
    let mut at = from;
    while at < rest.len() && rest[at] != '"' {
        at += if rest[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

fn quoted_char(rest: &[char]) -> usize {
    rest.iter()
        .skip(2)
        .position(|c| *c == '\'')
        .map_or(rest.len(), |end| end + 3)
}

fn raw_string(rest: &[char]) -> usize {
    let hashes = rest[1..].iter().take_while(|c| **c == '#').count();
    if rest.get(1 + hashes) != Some(&'"') {
        return 0;
    }
    let end: Vec<char> = std::iter::once('"')
        .chain(std::iter::repeat_n('#', hashes))
        .collect();
    let body = &rest[2 + hashes..];
    body.windows(end.len())
        .position(|window| window == end)
        .map_or(rest.len(), |at| 2 + hashes + at + end.len())
}

#[test]
fn every_spelling_of_a_path_is_seen() {
    const PARTS: &[&str] = &["http", "chat", "storage"];
    let module = ["chat".to_owned(), "page".to_owned()];
    let seen = |text: &str| parts_named(text, &module, PARTS);
    assert_eq!(seen("use crate::http::Router;"), ["http"]);
    assert_eq!(
        seen("use crate::{chat::page, http::{a, storage}};"),
        ["http", "chat"]
    );
    assert_eq!(seen("let x = crate ::\n storage::open();"), ["storage"]);
    assert_eq!(seen("use super::super::http;"), ["http"]);
    assert_eq!(seen("use super::http;"), Vec::<&str>::new());
    assert_eq!(
        seen("// crate::http\nlet x = \"crate::http\"; /* crate::http */ '\"'"),
        Vec::<&str>::new()
    );
    assert_eq!(
        seen("let s = r#\"\" crate::http \"#; use crate::storage;"),
        ["storage"]
    );
    assert_eq!(seen("fn f<'a>(x: &'a str) { crate::http::go('\\'') }"), ["http"]);
}

#[test]
fn only_the_first_name_of_a_path_is_its_root() {
    assert_eq!(
        roots_of_paths("use axum::Router; let x = chat::axum::y;"),
        ["axum", "chat"]
    );
    assert_eq!(roots_of_paths("use sea_orm; ::hyper::go()"), ["sea_orm", "hyper"]);
}
