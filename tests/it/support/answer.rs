//! What a server answered.

use serde_json::Value;

/// An answer, as text and as JSON.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub content_type: String,
    pub raw: String,
    pub body: Value,
}

impl Answer {
    pub async fn read(response: reqwest::Response) -> Self {
        Self::try_read(response).await.unwrap()
    }

    /// Reads what a server answers that may die meanwhile.
    pub async fn try_read(response: reqwest::Response) -> reqwest::Result<Self> {
        let status = response.status().as_u16();
        let content_type = response.headers().get("content-type");
        let content_type = content_type.map_or_else(String::new, |value| value.to_str().unwrap().to_owned());
        let raw = response.text().await?;
        let body = serde_json::from_str(&raw).unwrap_or(Value::Null);
        Ok(Self {
            status,
            content_type,
            raw,
            body,
        })
    }

    /// The value at a JSON pointer below `data` of an answer without errors.
    pub fn data(&self, pointer: &str) -> &Value {
        assert!(
            self.body.get("errors").is_none(),
            "an answer without errors: {}",
            self.raw
        );
        let data = self.body.get("data").and_then(|data| data.pointer(pointer));
        data.unwrap_or_else(|| panic!("{pointer} in {}", self.raw))
    }

    /// The code of the only GraphQL error, or of the problem of a REST answer.
    pub fn code(&self) -> &str {
        let code = match self.body.get("errors").and_then(Value::as_array) {
            Some(errors) => {
                assert_eq!(errors.len(), 1, "one error: {}", self.raw);
                errors[0].pointer("/extensions/code")
            }
            None => self.body.get("code"),
        };
        code.and_then(Value::as_str)
            .unwrap_or_else(|| panic!("a code in {} {}", self.status, self.raw))
    }

    /// The message of the only GraphQL error.
    pub fn message(&self) -> &str {
        self.body["errors"][0]["message"]
            .as_str()
            .unwrap_or_else(|| panic!("an error in {}", self.raw))
    }
}
