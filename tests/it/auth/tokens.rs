//! Which tokens let whom in. Whatever is wrong with one, the answer is the same.

use reqwest::header::{AUTHORIZATION, HeaderValue};
use serde_json::{Value, json};

use crate::support::issuer::{Issuer, SECRET, claims_of, encode, hs256, in_seconds, token, widget_claims};
use crate::support::{Answer, Backend, Client, Database, TestServer, with_database};

const WHO: &str = "{ viewer { teamId role agentId personId } }";

async fn server(database: &Database) -> TestServer {
    TestServer::start_with_auth(database.gateway().await).await
}

/// The viewer that a token makes.
async fn viewer(server: &Client, token: &str) -> Value {
    let answer = server.bearing(token).graphql(WHO, Value::Null).await;
    answer.data("/viewer").clone()
}

/// What a request with this `Authorization` header is answered, by GraphQL and by REST.
async fn ask(server: &Client, values: &[&str]) -> [Answer; 2] {
    let headers = values
        .iter()
        .map(|value| HeaderValue::from_bytes(value.as_bytes()).unwrap());
    let post = server
        .http()
        .post(server.url("/graphql"))
        .json(&json!({ "query": WHO }));
    let get = server.http().get(server.url("/agents/support/chat/messages"));
    let [mut post, mut get] = [post, get];
    for header in headers {
        post = post.header(AUTHORIZATION, header.clone());
        get = get.header(AUTHORIZATION, header);
    }
    [
        Answer::read(post.send().await.unwrap()).await,
        Answer::read(get.send().await.unwrap()).await,
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_good_token_says_team_role_and_what_narrows_them() {
    with_database(Backend::Sqlite, async |database| {
        let server = server(database).await;
        for role in ["dashboard", "agent", "admin"] {
            assert_eq!(
                viewer(&server, &token(&claims_of("acme", role))).await,
                json!({ "teamId": "acme", "role": role.to_uppercase(), "agentId": null, "personId": null })
            );
        }
        assert_eq!(
            viewer(&server, &token(&widget_claims("acme", "support", "web", "ann"))).await,
            json!({ "teamId": "acme", "role": "WIDGET", "agentId": "support", "personId": "ann" })
        );
        for (change, to) in [
            ("aud", json!(["other", "threadline"])),
            ("nbf", json!(in_seconds(30))),
            ("exp", json!(1e10 + 0.5)),
            ("iat", json!(in_seconds(500))),
            ("sub", json!("somebody")),
            ("team", json!("Ünï 😀 '; DROP TABLE")),
        ] {
            let mut claims = claims_of("acme", "admin");
            claims[change] = to;
            assert_eq!(
                viewer(&server, &token(&claims)).await["role"],
                "ADMIN",
                "{change}"
            );
        }
        let with_lower_case = format!("bearer  {}", token(&claims_of("acme", "admin")));
        assert_eq!(ask(&server, &[&with_lower_case]).await[0].status, 200);
    })
    .await;
}

/// Headers that let nobody in, and what is wrong with them.
fn wrong_headers() -> Vec<(&'static str, Vec<String>)> {
    let good = token(&claims_of("acme", "admin"));
    let (body, signature) = good.rsplit_once('.').unwrap();
    let stranger = Issuer::new("x");
    let claims = claims_of("acme", "admin").to_string();
    let with_header = |header: &str| hs256(SECRET.as_bytes(), header, &claims);
    let unsigned = |header: &str| format!("{}.{}.", encode(header), encode(&claims));
    let one = |text: String| vec![format!("Bearer {text}")];
    let mut wrong = vec![
        ("none", vec![]),
        ("empty", vec![String::new()]),
        ("no token", vec!["Bearer ".to_owned()]),
        ("another scheme", vec![format!("Basic {good}")]),
        ("no scheme", vec![good.clone()]),
        ("two tokens", one(format!("{good} {good}"))),
        (
            "two headers",
            vec![format!("Bearer {good}"), format!("Bearer {good}")],
        ),
        ("not a token", one("x".repeat(10_000))),
        ("two parts", one(body.to_owned())),
        ("four parts", one(format!("{good}.x"))),
        ("no signature", one(format!("{body}."))),
        ("a truncated signature", one(good[..good.len() - 1].to_owned())),
        ("padding", one(format!("{good}="))),
        (
            "another signature",
            one(format!("{body}.{}", signature.chars().rev().collect::<String>())),
        ),
        (
            "another secret",
            one(hs256(
                b"another secret of 32 bytes or more",
                r#"{"alg":"HS256"}"#,
                &claims,
            )),
        ),
        (
            "the public key as the secret",
            one(hs256(&stranger.rsa_modulus(), r#"{"alg":"HS256"}"#, &claims)),
        ),
        (
            "a key of nobody",
            one(stranger.token("RS256", &claims_of("acme", "admin"))),
        ),
        (
            "the secret's algorithm with a key",
            one(stranger.sign("RS256", r#"{"alg":"HS256"}"#, &claims)),
        ),
        ("another HMAC", one(with_header(r#"{"alg":"HS512"}"#))),
        ("no algorithm", one(with_header("{}"))),
        (
            "an algorithm that is no text",
            one(with_header(r#"{"alg":["HS256"]}"#)),
        ),
        (
            "two algorithms",
            one(with_header(r#"{"alg":"HS256","alg":"none"}"#)),
        ),
        (
            "critical parts",
            one(with_header(r#"{"alg":"HS256","crit":["exp"]}"#)),
        ),
        (
            "critical parts, none",
            one(with_header(r#"{"alg":"HS256","crit":[]}"#)),
        ),
        (
            "an unencoded payload",
            one(with_header(r#"{"alg":"HS256","b64":false,"crit":["b64"]}"#)),
        ),
        (
            "a key id that is no text",
            one(with_header(r#"{"alg":"HS256","kid":7}"#)),
        ),
        (
            "a key id of a megabyte's kind",
            one(stranger.sign(
                "RS256",
                &json!({ "alg": "RS256", "kid": "k".repeat(30_000) }).to_string(),
                &claims,
            )),
        ),
        (
            "a key id that is a path",
            one(stranger.sign("RS256", r#"{"alg":"RS256","kid":"../../dev/null"}"#, &claims)),
        ),
        (
            "a key id that is SQL",
            one(stranger.sign("ES256", r#"{"alg":"ES256","kid":"' OR 1=1 --"}"#, &claims)),
        ),
    ];
    for none in ["none", "None", "NONE", "nOnE", ""] {
        wrong.push((
            "no signature asked for",
            one(unsigned(&json!({ "alg": none }).to_string())),
        ));
    }
    // A token that brings its own key along, or says where it lies.
    let own = stranger.jwks()["keys"][0].clone();
    for (name, value) in [
        ("jwk", own),
        ("jku", json!("http://127.0.0.1:9/jwks.json")),
        ("x5u", json!("http://127.0.0.1:9/cert")),
        ("x5c", json!(["MIIB"])),
    ] {
        let header = json!({ "alg": "RS256", "kid": "RS256 x", name: value });
        wrong.push((
            "its own key",
            one(stranger.sign("RS256", &header.to_string(), &claims)),
        ));
    }
    wrong
}

/// Claims that let nobody in although they are signed: each is a change to good ones, null for left out.
fn wrong_claims() -> Vec<String> {
    let good = claims_of("acme", "dashboard");
    let mut wrong = Vec::new();
    for (name, values) in [
        (
            "exp",
            json!([
                null,
                in_seconds(-1),
                0,
                -1,
                "4102444800",
                true,
                [4_102_444_800_i64],
                1e308,
                253_402_300_800_i64
            ]),
        ),
        ("nbf", json!([in_seconds(70), "0", false, -1])),
        (
            "aud",
            json!([null, "", "Threadline", "other", ["other"], [], [7, "threadline"], { "threadline": 1 }, true]),
        ),
        (
            "team",
            json!([null, "", 7, "*", ["acme"], "a\u{0}b", "a\n", "é".repeat(201)]),
        ),
        ("role", json!([null, "", "root", "ADMIN", "admin ", ["admin"], 1])),
        ("agent", json!(["", 7, [], "a\tb"])),
        ("channel", json!(["", "Web", "../x", 7])),
        ("person", json!(["", 7, {}, "é".repeat(201)])),
    ] {
        for value in values.as_array().unwrap() {
            let mut claims = good.clone();
            if value.is_null() {
                claims.as_object_mut().unwrap().remove(name);
            } else {
                claims[name] = value.clone();
            }
            wrong.push(claims.to_string());
        }
        // Null is a value of the wrong type, and no way to leave a claim out.
        let mut claims = good.clone();
        claims[name] = Value::Null;
        wrong.push(claims.to_string());
    }
    // A widget is one person's: what its token leaves out must not widen it.
    for missing in ["agent", "channel", "person"] {
        let mut claims = widget_claims("acme", "support", "web", "ann");
        claims.as_object_mut().unwrap().remove(missing);
        wrong.push(claims.to_string());
    }
    let text = good.to_string();
    wrong.push(text.replacen('{', r#"{"role":"admin","#, 1));
    wrong.push(text.replacen('{', r#"{"team":"other","#, 1));
    wrong.push(text.replacen('{', r#"{"exp":1,"#, 1));
    wrong.push(text.replace("acme", r"\ud800"));
    wrong.extend(["", "null", "[]", "7", "{}", "{", "\"claims\""].map(str::to_owned));
    wrong
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_is_wrong_with_a_token_the_answer_is_the_same() {
    with_database(Backend::Sqlite, async |database| {
        let server = server(database).await;
        let expected = ask(&server, &[]).await.map(|answer| answer.raw);
        assert!(expected[0].contains("UNAUTHENTICATED") && expected[1].contains("UNAUTHENTICATED"));
        let mut cases = wrong_headers();
        cases.extend(wrong_claims().into_iter().map(|claims| {
            let token = hs256(SECRET.as_bytes(), r#"{"alg":"HS256"}"#, &claims);
            ("its claims", vec![format!("Bearer {token}")])
        }));
        for (name, headers) in cases {
            let headers: Vec<_> = headers.iter().map(String::as_str).collect();
            let answers = ask(&server, &headers).await;
            for (answer, expected) in answers.iter().zip(&expected) {
                assert_eq!(
                    (answer.status, &answer.raw),
                    (401, expected),
                    "{name}: {headers:?}"
                );
            }
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_in_the_url_is_none() {
    with_database(Backend::Sqlite, async |database| {
        let server = server(database).await;
        let good = token(&claims_of("acme", "admin"));
        for name in ["access_token", "token", "authorization", "jwt"] {
            let graphql = server
                .get(&format!("/graphql?query={{viewer{{role}}}}&{name}={good}"))
                .await;
            let rest = server
                .get(&format!("/agents/support/chat/messages?{name}={good}"))
                .await;
            assert_eq!((graphql.status, rest.status), (401, 401), "{name}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_token_only_what_shows_no_chat_is_answered() {
    with_database(Backend::Sqlite, async |database| {
        let server = server(database).await;
        for path in ["/graphiql", "/schema.graphql", "/healthz", "/readyz"] {
            assert!(server.is_ok(path).await, "{path}");
        }
        for path in [
            "/graphql?query={__typename}",
            "/graphql",
            "/agents/a/chat/messages",
            "/agents/a/chat/threads",
            "/agents/a/chat/threads/x/messages",
        ] {
            let response = server.http().get(server.url(path)).send().await.unwrap();
            assert_eq!(response.status(), 401, "{path}");
            assert_eq!(response.headers()["www-authenticate"], "Bearer", "{path}");
        }
        let post = server.http().post(server.url("/graphql")).body("{}");
        let refused = post.send().await.unwrap();
        assert_eq!(refused.headers()["connection"], "close", "its body was not read");
        let page = server
            .http()
            .get(server.url("/graphql"))
            .header("accept", "text/html");
        assert_eq!(
            page.send().await.unwrap().status(),
            200,
            "a browser gets the playground"
        );
        // Who is not let in does not get to send a body either.
        let huge = server
            .http()
            .post(server.url("/graphql"))
            .body(vec![b' '; 60 << 20]);
        if let Ok(response) = huge.send().await {
            assert_eq!(response.status(), 401);
        }
    })
    .await;
}
