//! Trusted documents: the only ones that run, where the operator lists them.
//!
//! The list is what the build of the clients writes. A stranger then asks nothing that no screen asks.

use std::collections::HashMap;

use axum::http::StatusCode;
use sha2::{Digest, Sha256};

use super::{
    guard::{self, Limits},
    refusal::Refusal,
};
use crate::chat::error::ErrorCode;

/// How the draft of GraphQL over HTTP marks an id that is a hash.
const PREFIX: &str = "sha256:";

/// A list of documents, by the SHA-256 of their text in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Documents(HashMap<String, String>);

/// What a request asks to run.
pub(super) enum Asked {
    /// This document.
    Document(String),
    /// The listed document with this id.
    Id(String),
}

impl Documents {
    /// Reads `{ "<SHA-256 of the document>": "<document>" }` and checks every entry as far as that does not depend
    /// on variables.
    ///
    /// # Errors
    /// What is wrong, with which entry.
    pub fn read(json: &[u8], limits: &Limits) -> Result<Self, String> {
        let listed: HashMap<String, String> = serde_json::from_slice(json)
            .map_err(|error| format!("the file is no JSON object of documents by their SHA-256: {error}"))?;
        if listed.is_empty() {
            return Err("the file lists no document, so nothing could run".to_owned());
        }
        let mut documents = HashMap::new();
        for (key, document) in listed {
            let id = hash(&document);
            if key.strip_prefix(PREFIX).unwrap_or(&key) != id {
                let key: String = key.chars().take(80).collect();
                return Err(format!(
                    "the entry {key:?} should be {id:?}, the SHA-256 of its document"
                ));
            }
            guard::check_listed(&document, limits).map_err(|error| {
                format!("the document of the entry {key:?} cannot run: {}", error.message)
            })?;
            documents.insert(id, document);
        }
        Ok(Self(documents))
    }

    fn get(&self, id: &str) -> Option<&String> {
        self.0.get(id.strip_prefix(PREFIX).unwrap_or(id))
    }
}

/// The document to run.
///
/// One that is not listed is FORBIDDEN with status 403 in both media types: nothing is wrong with the document, and
/// neither another spelling nor another try will help.
pub(super) fn choose(listed: Option<&Documents>, asked: Asked) -> Result<String, Refusal> {
    let Some(listed) = listed else {
        return match asked {
            Asked::Document(document) => Ok(document),
            Asked::Id(_) => Err(Refusal::bad_input(
                "this server has no list of documents (limits.documents): send the document itself as `query`",
            )),
        };
    };
    let found = match &asked {
        Asked::Document(document) => listed.get(&hash(document)),
        Asked::Id(id) => listed.get(id),
    };
    found.cloned().ok_or_else(|| {
        let message = "this server runs only the documents in its list (limits.documents), and this one is not in \
            it: add it, to the byte, and restart the server";
        Refusal::new(StatusCode::FORBIDDEN, ErrorCode::Forbidden, message)
    })
}

fn hash(document: &str) -> String {
    Sha256::digest(document)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
