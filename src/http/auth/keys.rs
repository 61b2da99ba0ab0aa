//! The keys that tokens are signed with, and the check of a token against them (RFC 7515).
//!
//! A key decides which algorithm it is good for, so a token cannot choose to be checked with a public key as if that
//! were a secret. Keys that a token brings along or points to (`jwk`, `jku`, `x5c`, `x5u`) are not looked at.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use chrono::{DateTime, Utc};
use jsonwebtoken::{
    Algorithm, DecodingKey, EncodingKey, crypto,
    jwk::{AlgorithmParameters, EllipticCurve, Jwk, JwkSet, KeyAlgorithm, PublicKeyUse},
};
use serde_json::json;

use super::claims;
use crate::chat::{json::Json, scope::Scope};

/// Whom a token lets in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// What its bearer may see and do.
    pub scope: Scope,
    /// The token, as far as it is told from others: the same whatever spelling its signature has.
    pub principal: Principal,
}

/// A hash of a token's claims.
pub type Principal = blake3::Hash;

/// Why a token lets nobody in. The reason is for the log: whoever sent the token learns none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It is signed with a key that is not among these; newer ones may have it.
    #[error("no key of that id")]
    UnknownKey,
    /// It is no token of ours, or not now.
    #[error("{0}")]
    Invalid(&'static str),
}

/// The keys of a server: a secret, public keys, or both.
#[derive(Clone, Default)]
pub struct Keys {
    secret: Option<DecodingKey>,
    public: Vec<PublicKey>,
}

#[derive(Clone)]
struct PublicKey {
    id: Option<String>,
    algorithm: Algorithm,
    key: DecodingKey,
}

impl Keys {
    /// Accepts what is signed with a secret, by HMAC with SHA-256. An empty secret accepts nothing.
    #[must_use]
    pub fn with_secret(mut self, secret: &str) -> Self {
        self.secret = DecodingKey::from_secret(secret.as_bytes()).ok();
        self
    }

    /// Accepts what is signed with the keys of a JWKS (RFC 7517): RSA, P-256 and Ed25519. Those of it that are for
    /// other uses are left out.
    ///
    /// # Errors
    /// When the text is no JWKS, or when it has no key that can be used.
    pub fn with_jwks(mut self, text: &[u8]) -> Result<Self, String> {
        let set: JwkSet =
            serde_json::from_slice(text).map_err(|error| format!("this is no JWKS: {error}"))?;
        self.public = set.keys.iter().filter_map(PublicKey::of).collect();
        if self.public.is_empty() {
            return Err(
                "the JWKS has no key that can be used: RSA (RS256), P-256 (ES256) or Ed25519 (EdDSA)"
                    .to_owned(),
            );
        }
        Ok(self)
    }

    /// Whom a token lets in now.
    ///
    /// # Errors
    /// When it lets nobody in.
    pub fn check(&self, token: &str, now: DateTime<Utc>) -> Result<Grant, Refused> {
        let (signed, signature) = token
            .rsplit_once('.')
            .ok_or(Refused::Invalid("not three parts"))?;
        let (header, payload) = signed
            .split_once('.')
            .ok_or(Refused::Invalid("not three parts"))?;
        let header = Header::read(header).map_err(Refused::Invalid)?;
        let keys = self.fitting(&header)?;
        let is_signed_with =
            |key: &&DecodingKey| crypto::verify(signature, signed.as_bytes(), key, header.algorithm);
        if !keys.iter().any(|key| is_signed_with(key).unwrap_or(false)) {
            return Err(Refused::Invalid("the signature is wrong"));
        }
        let payload = decode(payload).ok_or(Refused::Invalid("the claims are not base64url"))?;
        Ok(Grant {
            scope: claims::scope(&payload, now).map_err(Refused::Invalid)?,
            principal: blake3::hash(&payload),
        })
    }

    /// The keys that a token of this header may be signed with.
    fn fitting(&self, header: &Header) -> Result<Vec<&DecodingKey>, Refused> {
        if header.algorithm == Algorithm::HS256 {
            let secret = self.secret.as_ref();
            return Ok(vec![secret.ok_or(Refused::Invalid("there is no secret"))?]);
        }
        let keys: Vec<_> = self
            .public
            .iter()
            .filter(|key| {
                key.algorithm == header.algorithm && (header.key_id.is_none() || key.id == header.key_id)
            })
            .map(|key| &key.key)
            .collect();
        if keys.is_empty() {
            return Err(Refused::UnknownKey);
        }
        Ok(keys)
    }
}

impl PublicKey {
    /// A key that can check tokens, if it is one.
    fn of(jwk: &Jwk) -> Option<Self> {
        let (algorithm, name) = match &jwk.algorithm {
            AlgorithmParameters::RSA(_) => (Algorithm::RS256, KeyAlgorithm::RS256),
            AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P256 => {
                (Algorithm::ES256, KeyAlgorithm::ES256)
            }
            AlgorithmParameters::OctetKeyPair(key) if key.curve == EllipticCurve::Ed25519 => {
                (Algorithm::EdDSA, KeyAlgorithm::EdDSA)
            }
            _ => return None,
        };
        let is_for_signatures = matches!(jwk.common.public_key_use, None | Some(PublicKeyUse::Signature));
        if !is_for_signatures || jwk.common.key_algorithm.is_some_and(|named| named != name) {
            return None;
        }
        Some(Self {
            id: jwk.common.key_id.clone(),
            algorithm,
            key: DecodingKey::from_jwk(jwk).ok()?,
        })
    }
}

/// What of a token's header counts.
struct Header {
    algorithm: Algorithm,
    key_id: Option<String>,
}

impl Header {
    fn read(part: &str) -> Result<Self, &'static str> {
        let bytes = decode(part).ok_or("the header is not base64url")?;
        let header = Json::parse(&bytes).map_err(|_| "the header cannot be read")?;
        // The issuer says: whoever does not know these must not accept the token.
        if header.get("crit").is_some() {
            return Err("the header has critical parts");
        }
        let algorithm = match header.get("alg").and_then(Json::as_str) {
            Some("HS256") => Algorithm::HS256,
            Some("RS256") => Algorithm::RS256,
            Some("ES256") => Algorithm::ES256,
            Some("EdDSA") => Algorithm::EdDSA,
            _ => return Err("alg is not HS256, RS256, ES256 or EdDSA"),
        };
        let key_id = match header.get("kid") {
            None => None,
            Some(Json::String(id)) => Some(id.clone()),
            Some(_) => return Err("kid is not a string"),
        };
        Ok(Self { algorithm, key_id })
    }
}

fn decode(part: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(part).ok()
}

/// A token for a scope, signed with the secret.
///
/// # Errors
/// When the secret is empty.
pub fn mint(
    secret: &str,
    scope: &Scope,
    now: DateTime<Utc>,
    expires_at: DateTime<Utc>,
) -> jsonwebtoken::errors::Result<String> {
    let mut claims = json!({
        "aud": claims::AUDIENCE,
        "iat": now.timestamp(),
        "exp": expires_at.timestamp(),
        "team": scope.team_id(),
        "role": scope.role().as_str(),
    });
    let narrowing = [
        ("agent", scope.agent_id()),
        ("channel", scope.channel()),
        ("person", scope.person_id()),
    ];
    for (name, id) in narrowing {
        if let Some(id) = id {
            claims[name] = id.into();
        }
    }
    let key = EncodingKey::from_secret(secret.as_bytes())?;
    jsonwebtoken::encode(&jsonwebtoken::Header::new(Algorithm::HS256), &claims, &key)
}
