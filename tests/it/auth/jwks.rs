//! Public keys: from a file or a URL, and what happens when they change.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use axum::{Router, routing::get};
use serde_json::{Value, json};
use threadline::chat::clock::Clock;
use threadline::http::auth::Auth;
use threadline::http::guard::Limits;
use tokio::net::TcpListener;
use tokio::sync::Mutex;

use crate::support::issuer::{Issuer, SECRET, claims_of, token};
use crate::support::{Backend, Client, Database, TestServer, with_database};

async fn server(database: &Database, secret: Option<&str>, jwks: &str) -> TestServer {
    let auth = Auth::new(secret, Some(jwks), Clock::default()).await.unwrap();
    TestServer::start_with(database.gateway().await, auth, Limits::default()).await
}

async fn status(server: &Client, token: &str) -> u16 {
    server
        .bearing(token)
        .graphql("{ viewer { role } }", Value::Null)
        .await
        .status
}

/// An issuer's web server: what it answers may change, and it counts how often it is asked.
struct Site {
    url: String,
    answer: Arc<Mutex<Option<String>>>,
    asked: Arc<AtomicUsize>,
}

impl Site {
    async fn of(jwks: &Value) -> Self {
        let answer = Arc::new(Mutex::new(Some(jwks.to_string())));
        let asked = Arc::new(AtomicUsize::new(0));
        let (shown, counted) = (answer.clone(), asked.clone());
        let handler = async move || {
            counted.fetch_add(1, Ordering::SeqCst);
            shown
                .lock()
                .await
                .clone()
                .ok_or(axum::http::StatusCode::BAD_GATEWAY)
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/jwks.json", listener.local_addr().unwrap());
        let router = Router::new().route("/jwks.json", get(handler));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, answer, asked }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_kind_of_key_signs_by_its_own_algorithm_only() {
    with_database(Backend::Sqlite, async |database| {
        let issuer = Issuer::new("1");
        let file = database.folder().join("jwks.json");
        std::fs::write(&file, issuer.jwks().to_string()).unwrap();
        let server = server(database, None, file.to_str().unwrap()).await;
        let claims = claims_of("acme", "admin");
        for algorithm in ["RS256", "ES256", "EdDSA"] {
            assert_eq!(
                status(&server, &issuer.token(algorithm, &claims)).await,
                200,
                "{algorithm}"
            );
            let nameless = issuer.sign(
                algorithm,
                &json!({ "alg": algorithm }).to_string(),
                &claims.to_string(),
            );
            assert_eq!(
                status(&server, &nameless).await,
                200,
                "{algorithm} without a key id"
            );
            for other in ["RS256", "ES256", "EdDSA", "HS256", "RS384", "PS256"] {
                if other != algorithm {
                    for key_id in [issuer.id(algorithm), issuer.id(other)] {
                        let header = json!({ "alg": other, "kid": key_id }).to_string();
                        let confused = issuer.sign(algorithm, &header, &claims.to_string());
                        assert_eq!(status(&server, &confused).await, 401, "{algorithm} as {other}");
                    }
                }
            }
        }
        assert_eq!(
            status(&server, &token(&claims)).await,
            401,
            "there is no secret here"
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_key_is_fetched_when_a_token_names_it_and_made_up_ones_do_not_flood_the_issuer() {
    with_database(Backend::Sqlite, async |database| {
        let (old, new) = (Issuer::new("old"), Issuer::new("new"));
        let site = Site::of(&old.jwks()).await;
        let server = server(database, Some(SECRET), &site.url).await;
        let claims = claims_of("acme", "admin");
        assert_eq!(status(&server, &old.token("ES256", &claims)).await, 200);
        assert_eq!(
            status(&server, &token(&claims)).await,
            200,
            "the secret is good beside the keys"
        );
        let start = Instant::now();
        for _ in 0..50 {
            assert_eq!(status(&server, &new.token("ES256", &claims)).await, 401);
        }
        let asked = site.asked.load(Ordering::SeqCst) as u64;
        assert!(
            asked <= 1 + start.elapsed().as_secs() / 5,
            "the issuer was asked {asked} times"
        );
        *site.answer.lock().await = Some(new.jwks().to_string());
        tokio::time::sleep(std::time::Duration::from_secs(5)).await;
        assert_eq!(
            status(&server, &new.token("ES256", &claims)).await,
            200,
            "rotated without a restart"
        );
        assert_eq!(
            status(&server, &old.token("ES256", &claims)).await,
            401,
            "the old key is gone"
        );
        *site.answer.lock().await = None;
        tokio::time::sleep(std::time::Duration::from_secs(5)).await;
        assert_eq!(status(&server, &old.token("ES256", &claims)).await, 401);
        assert_eq!(
            status(&server, &new.token("ES256", &claims)).await,
            200,
            "an issuer that fails takes no key away"
        );
    })
    .await;
}

#[tokio::test]
async fn a_jwks_that_cannot_be_used_ends_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("jwks.json");
    let weak_curve = json!({ "keys": [{ "kty": "EC", "crv": "P-384", "x": "AA", "y": "AA" }] });
    let secret = json!({ "keys": [{ "kty": "oct", "k": "c2VjcmV0" }] });
    let mut for_encryption = Issuer::new("1").jwks();
    for_encryption["keys"].as_array_mut().unwrap().truncate(1);
    for_encryption["keys"][0]["use"] = "enc".into();
    for (text, says) in [
        ("{".to_owned(), "no JWKS"),
        ("[]".to_owned(), "no JWKS"),
        (json!({ "keys": [] }).to_string(), "no key"),
        (weak_curve.to_string(), "no key"),
        (secret.to_string(), "no key"),
        (for_encryption.to_string(), "no key"),
    ] {
        std::fs::write(&file, &text).unwrap();
        let refused = Auth::new(None, file.to_str(), Clock::default()).await;
        let refused = format!("{:#}", refused.err().expect("it cannot be used"));
        assert!(refused.contains(says), "{text}: {refused}");
    }
    for source in ["/nowhere/jwks.json", "http://me:password@127.0.0.1:9/jwks.json"] {
        let refused = Auth::new(None, Some(source), Clock::default()).await;
        let refused = format!("{:#}", refused.err().expect("it cannot be read"));
        assert!(!refused.contains("password"), "{refused}");
    }
}
