//! Which media types a request sends and takes.

use axum::http::{HeaderMap, StatusCode, header};

use crate::{chat::error::ErrorCode, http::refusal::Refusal};

/// The two media types of an answer; they differ in the status of a request error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Media {
    /// What every client understands: a request error has status 200.
    Json,
    /// The specification's own: a request error has status 400.
    GraphqlResponse,
}

impl Media {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Json => "application/json; charset=utf-8",
            Self::GraphqlResponse => "application/graphql-response+json; charset=utf-8",
        }
    }

    /// The status of an answer that holds only request errors.
    pub(super) const fn refused(self) -> StatusCode {
        match self {
            Self::Json => StatusCode::OK,
            Self::GraphqlResponse => StatusCode::BAD_REQUEST,
        }
    }
}

/// The media type to answer in: what `Accept` likes best, plain JSON when it does not care.
pub(super) fn media(headers: &HeaderMap) -> Result<Media, Refusal> {
    let ranges = ranges(headers);
    if ranges.is_empty() {
        return Ok(Media::Json);
    }
    let json = liking(&ranges, "application/json");
    let graphql = liking(&ranges, "application/graphql-response+json");
    if json.quality == 0 && graphql.quality == 0 {
        return Err(Refusal::new(
            StatusCode::NOT_ACCEPTABLE,
            ErrorCode::BadUserInput,
            "the answer is application/json or application/graphql-response+json: accept one of them",
        ));
    }
    Ok(if graphql > json || (graphql == json && graphql.named) {
        Media::GraphqlResponse
    } else {
        Media::Json
    })
}

/// Whether a browser is asking for a page to show.
pub(super) fn wants_html(headers: &HeaderMap) -> bool {
    let liking = liking(&ranges(headers), "text/html");
    liking.named && liking.quality > 0
}

/// Only `application/json` is read: a page of another site can send the other types without asking first.
pub(super) fn is_json(headers: &HeaderMap) -> Result<(), Refusal> {
    let content_type = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or("");
    let mut parts = content_type
        .split(';')
        .map(|part| part.trim().to_ascii_lowercase());
    let json = parts.next().is_some_and(|essence| essence == "application/json");
    let utf8 = parts.all(|part| match part.strip_prefix("charset=") {
        Some(charset) => matches!(charset.trim_matches('"'), "utf-8" | "utf8"),
        None => true,
    });
    if json && utf8 {
        return Ok(());
    }
    Err(Refusal::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ErrorCode::BadUserInput,
        "send the request as application/json in UTF-8",
    ))
}

/// How much a type is liked: in thousandths, and whether it is named rather than matched by a star.
#[derive(Clone, Copy, Default, PartialEq, PartialOrd)]
struct Liking {
    quality: u16,
    named: bool,
}

/// The ranges of all `Accept` headers with their qualities.
fn ranges(headers: &HeaderMap) -> Vec<(String, u16)> {
    let values = headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok());
    values
        .flat_map(|value| value.split(','))
        .map(range)
        .filter(|(range, _)| !range.is_empty())
        .collect()
}

fn range(text: &str) -> (String, u16) {
    let mut parts = text.split(';').map(str::trim);
    let range = parts.next().unwrap_or("").to_ascii_lowercase();
    let quality = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
    let quality = quality
        .map_or(Some(1.0), |quality| quality.parse::<f32>().ok())
        .unwrap_or(0.0);
    // Out of range or not a number at all: clamped, and cast to a whole number of thousandths.
    (range, (quality.clamp(0.0, 1.0) * 1000.0) as u16)
}

/// The most specific range that matches decides.
fn liking(ranges: &[(String, u16)], of: &str) -> Liking {
    let kind = of.split('/').next().unwrap_or("");
    let quality = |wanted: &str| {
        ranges
            .iter()
            .filter(|(range, _)| range == wanted)
            .map(|(_, q)| *q)
            .max()
    };
    if let Some(quality) = quality(of) {
        return Liking { quality, named: true };
    }
    let quality = quality(&format!("{kind}/*"))
        .or_else(|| quality("*/*"))
        .unwrap_or(0);
    Liking {
        quality,
        named: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: header::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, value.parse().unwrap())])
    }

    #[test]
    fn accept_is_negotiated_with_its_qualities() {
        use Media::{GraphqlResponse, Json};
        for (accept, expected) in [
            ("*/*", Some(Json)),
            ("application/*", Some(Json)),
            ("application/json", Some(Json)),
            ("APPLICATION/JSON; charset=utf-8", Some(Json)),
            ("application/graphql-response+json", Some(GraphqlResponse)),
            (
                "application/graphql-response+json, application/json;q=0.9",
                Some(GraphqlResponse),
            ),
            (
                "application/graphql-response+json;q=0.5, application/json",
                Some(Json),
            ),
            (
                "application/json, application/graphql-response+json",
                Some(GraphqlResponse),
            ),
            ("application/json;q=0, */*", Some(GraphqlResponse)),
            ("application/graphql-response+json;q=0, */*;q=0.1", Some(Json)),
            ("text/html, */*;q=0.8", Some(Json)),
            ("", Some(Json)),
            ("text/html", None),
            ("*/*;q=0", None),
            ("application/json;q=nonsense", None),
            ("application/jsonp", None),
        ] {
            assert_eq!(media(&headers(header::ACCEPT, accept)).ok(), expected, "{accept}");
        }
        assert_eq!(media(&HeaderMap::new()).ok(), Some(Json));
    }

    #[test]
    fn only_json_in_utf8_is_read() {
        let read = |value| is_json(&headers(header::CONTENT_TYPE, value)).is_ok();
        for good in [
            "application/json",
            "Application/JSON;charset=UTF-8",
            "application/json; charset=\"utf-8\"",
        ] {
            assert!(read(good), "{good}");
        }
        for bad in [
            "",
            "text/plain",
            "application/jsonp",
            "application/json; charset=utf-16",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=application/json",
            "text/plain; application/json",
        ] {
            assert!(!read(bad), "{bad}");
        }
        assert!(is_json(&HeaderMap::new()).is_err());
    }
}
