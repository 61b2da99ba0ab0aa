//! What of a value may be seen.

use std::borrow::Cow;

use super::Key;

pub(super) const HIDDEN: &str = "***";

/// The value of a key without its secrets.
pub(super) fn hide<'a>(key: &Key, value: &'a str) -> Cow<'a, str> {
    if value.is_empty() {
        Cow::Borrowed(value)
    } else if key.is_secret() {
        Cow::Borrowed(HIDDEN)
    } else if key.name.ends_with("url") || matches!(key.name.as_str(), "auth.jwks" | "otel.endpoint") {
        Cow::Owned(url(value))
    } else {
        Cow::Borrowed(value)
    }
}

/// A URL without its password, wherever that stands. A URL that is not well formed loses more rather than less.
fn url(value: &str) -> String {
    let scheme = value.find("://").map_or(0, |at| at + 3);
    let at = value.rfind('@').filter(|at| *at >= scheme).unwrap_or(scheme);
    let mut shown = value[..scheme].to_owned();
    match value[scheme..at].split_once(':') {
        Some((name, _)) => shown.extend([name, ":", HIDDEN]),
        None => shown.push_str(&value[scheme..at]),
    }
    let Some((path, query)) = value[at..].split_once('?') else {
        return shown + &value[at..];
    };
    let pairs = query.split('&').map(|pair| match pair.split_once('=') {
        Some((name, _)) if is_secret(name) => format!("{name}={HIDDEN}"),
        _ => pair.to_owned(),
    });
    let query: Vec<_> = pairs.collect();
    format!("{shown}{path}?{}", query.join("&"))
}

/// Whether a parameter of a URL sounds as if its value were one.
fn is_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    ["password", "secret", "token", "key", "sig"]
        .iter()
        .any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::url;

    #[test]
    fn a_password_is_hidden_wherever_it_stands() {
        for (given, shown) in [
            ("sqlite://a.db?mode=rwc", "sqlite://a.db?mode=rwc"),
            ("postgres://host/db", "postgres://host/db"),
            ("postgres://me@host/db", "postgres://me@host/db"),
            ("postgres://me:p@host/db", "postgres://me:***@host/db"),
            ("postgres://me:p/w@host/db", "postgres://me:***@host/db"),
            ("postgres://me:p?w@host/db", "postgres://me:***@host/db"),
            (
                "postgres:///db?password=p&user=me",
                "postgres:///db?password=***&user=me",
            ),
            (
                "https://id.example/jwks?api_key=k&v=1",
                "https://id.example/jwks?api_key=***&v=1",
            ),
        ] {
            assert_eq!(url(given), shown, "{given}");
        }
    }
}
