//! Signs tokens, as an identity provider does and as an attacker would.

use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::hmac;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Value, json};

/// The secret of the servers under test.
pub const SECRET: &str = "a secret of the tests, of 32 bytes and more";

/// The secret half of a set of keys.
pub struct Issuer {
    suffix: String,
    rsa: RsaKeyPair,
    ec: EcdsaKeyPair,
    ed: Ed25519KeyPair,
}

impl Issuer {
    /// New keys, whose ids end with `suffix`.
    pub fn new(suffix: &str) -> Self {
        Self {
            suffix: suffix.to_owned(),
            rsa: RsaKeyPair::generate(KeySize::Rsa2048).unwrap(),
            ec: EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap(),
            ed: Ed25519KeyPair::generate().unwrap(),
        }
    }

    /// The public half, as a JWKS.
    pub fn jwks(&self) -> Value {
        let rsa = self.rsa.public_key();
        let point = self.ec.public_key().as_ref();
        json!({ "keys": [
            { "kty": "RSA", "use": "sig", "kid": self.id("RS256"),
              "n": encode(rsa.modulus().big_endian_without_leading_zero()),
              "e": encode(rsa.exponent().big_endian_without_leading_zero()) },
            { "kty": "EC", "crv": "P-256", "alg": "ES256", "kid": self.id("ES256"),
              "x": encode(&point[1..33]), "y": encode(&point[33..]) },
            { "kty": "OKP", "crv": "Ed25519", "kid": self.id("EdDSA"), "x": encode(self.ed.public_key()) },
        ]})
    }

    /// The id of the key for an algorithm.
    pub fn id(&self, algorithm: &str) -> String {
        format!("{algorithm} {}", self.suffix)
    }

    /// The RSA key in the bytes that an attacker would use as a secret.
    pub fn rsa_modulus(&self) -> Vec<u8> {
        self.rsa
            .public_key()
            .modulus()
            .big_endian_without_leading_zero()
            .to_vec()
    }

    /// A token of good claims, signed by an algorithm's key and naming it.
    pub fn token(&self, algorithm: &str, claims: &Value) -> String {
        let header = json!({ "alg": algorithm, "kid": self.id(algorithm) });
        self.sign(algorithm, &header.to_string(), &claims.to_string())
    }

    /// Any header and claims, signed by an algorithm's key whatever the header says.
    pub fn sign(&self, algorithm: &str, header: &str, claims: &str) -> String {
        let random = SystemRandom::new();
        signed(header, claims, |message| match algorithm {
            "RS256" => {
                let mut signature = vec![0; self.rsa.public_modulus_len()];
                self.rsa
                    .sign(&RSA_PKCS1_SHA256, &random, message, &mut signature)
                    .unwrap();
                signature
            }
            "ES256" => self.ec.sign(&random, message).unwrap().as_ref().to_vec(),
            _ => self.ed.sign(message).as_ref().to_vec(),
        })
    }
}

/// A token of good claims, signed with the secret of the servers under test.
pub fn token(claims: &Value) -> String {
    hs256(SECRET.as_bytes(), r#"{"alg":"HS256"}"#, &claims.to_string())
}

/// Any header and claims, signed with a secret.
pub fn hs256(secret: &[u8], header: &str, claims: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
    signed(header, claims, |message| {
        hmac::sign(&key, message).as_ref().to_vec()
    })
}

/// Claims that let an admin of a team in for an hour.
pub fn claims_of(team: &str, role: &str) -> Value {
    json!({ "aud": "threadline", "exp": in_seconds(3600), "team": team, "role": role })
}

/// Claims of a widget of one thread.
pub fn widget_claims(team: &str, agent: &str, channel: &str, person: &str) -> Value {
    let mut claims = claims_of(team, "widget");
    claims["agent"] = agent.into();
    claims["channel"] = channel.into();
    claims["person"] = person.into();
    claims
}

/// The time so many seconds from now, as claims have it.
pub fn in_seconds(seconds: i64) -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(now.as_secs()).unwrap() + seconds
}

pub fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn signed(header: &str, claims: &str, sign: impl Fn(&[u8]) -> Vec<u8>) -> String {
    let message = format!("{}.{}", encode(header), encode(claims));
    let signature = encode(sign(message.as_bytes()));
    format!("{message}.{signature}")
}
