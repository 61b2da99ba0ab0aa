//! A token of anybody: refused, or signed with the server's secret and in force.
//!
//! An input is a header, claims and perhaps a signature, a line each; without one it is signed as it should be. One
//! line is a whole token.
#![no_main]

use std::sync::LazyLock;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use chrono::{DateTime, Utc};
use jsonwebtoken::{Algorithm, EncodingKey, crypto};
use libfuzzer_sys::fuzz_target;
use threadline::{
    chat::{json::Json, scope::ViewerRole},
    http::auth::Keys,
};

const SECRET: &str = "a secret of more than 32 bytes that nobody guesses";
/// RFC 8037, appendix A.2: a public key is no secret to sign with.
const PUBLIC: &str =
    r#"{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"k","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;

static KEYS: LazyLock<Keys> = LazyLock::new(|| {
    let keys = Keys::default().with_secret(SECRET);
    keys.with_jwks(PUBLIC.as_bytes()).expect("a JWKS")
});

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000, 0).expect("a time")
}

fuzz_target!(|input: &str| {
    let lines: Vec<_> = input.splitn(3, '\n').collect();
    let [header, claims, rest @ ..] = lines.as_slice() else {
        let _ = KEYS.check(input, now()).expect_err("nobody can sign");
        return;
    };
    let signed = format!(
        "{}.{}",
        URL_SAFE_NO_PAD.encode(header),
        URL_SAFE_NO_PAD.encode(claims)
    );
    let right = {
        let key = EncodingKey::from_secret(SECRET.as_bytes()).expect("a secret");
        crypto::sign(signed.as_bytes(), &key, Algorithm::HS256).expect("it can be signed")
    };
    let (signature, is_right) = match rest {
        [signature] => (*signature, *signature == right),
        _ => (right.as_str(), true),
    };
    let Ok(grant) = KEYS.check(&format!("{signed}.{signature}"), now()) else {
        return;
    };
    assert!(is_right, "nobody can sign");
    let header = Json::parse(header.as_bytes()).expect("a header that counts is JSON");
    assert_eq!(header.get("alg").and_then(Json::as_str), Some("HS256"));
    let claims = Json::parse(claims.as_bytes()).expect("claims that count are JSON");
    let Some(Json::Number(end)) = claims.get("exp") else {
        panic!("exp is needed");
    };
    assert!(end.parse::<f64>().expect("a number") > 1_800_000_000.0);
    assert_eq!(
        claims.get("team").and_then(Json::as_str),
        Some(grant.scope.team_id())
    );
    let narrowed = [
        ("agent", grant.scope.agent_id()),
        ("channel", grant.scope.channel()),
        ("person", grant.scope.person_id()),
    ];
    for (name, id) in narrowed {
        assert_eq!(claims.get(name).and_then(Json::as_str), id);
    }
    if grant.scope.role() == ViewerRole::Widget {
        assert!(grant.scope.thread_key().is_some(), "a widget is one person's");
    }
});
