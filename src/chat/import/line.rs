//! One line of an input, checked by itself.

use std::str::FromStr;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::{Rules, fields::Fields};
use crate::chat::{
    content::Content,
    error::{Error, Result},
    id::{self, MessageId, ThreadId},
    json::Json,
    model::{Boundary, BoundaryReason, Outcome, Role, ThreadKey},
};

/// A line of an input.
pub(super) enum Line {
    Thread(ThreadLine),
    Message(Box<MessageLine>),
}

/// `{"type":"thread", …}`
pub(super) struct ThreadLine {
    pub key: ThreadKey,
    pub id: Option<ThreadId>,
    pub created_at: Option<DateTime<Utc>>,
}

/// `{"type":"message", …}`
pub(super) struct MessageLine {
    pub key: ThreadKey,
    pub id: Option<MessageId>,
    pub created_at: DateTime<Utc>,
    pub said: Said,
    /// The line as it would be written compactly, where an id has to be made from it.
    pub canonical: Option<String>,
}

/// What stands in a message line.
pub(super) enum Said {
    Message(Message),
    Boundary(Boundary),
}

/// A message of a turn.
pub(super) struct Message {
    pub turn_id: Option<String>,
    pub outcome: Outcome,
    pub role: Role,
    pub content: Content,
    pub tokens: Option<i32>,
    pub stopped: Option<bool>,
    pub late: bool,
}

impl Line {
    pub(super) fn parse(text: &[u8], rules: &Rules) -> Result<Self> {
        let json = Json::parse(text)
            .map_err(|error| Error::BadInput(format!("no JSON that can be kept: {error}")))?;
        let canonical = needs_ids(&json).then(|| json.to_string());
        let mut fields = Fields::new("", json)?;
        let kind = fields.needed_text("type")?;
        let key = ThreadKey::new(
            fields.needed_text("agentId")?,
            fields.needed_text("channel")?,
            fields.needed_text("personId")?,
        )?;
        let line = match kind.as_str() {
            "thread" => Self::Thread(ThreadLine {
                key,
                id: parse_id(&mut fields, rules, |id: &ThreadId| id.0)?,
                created_at: parse_time(&mut fields, rules)?,
            }),
            "message" => {
                let id = parse_id(&mut fields, rules, |id: &MessageId| id.0)?;
                let created_at = parse_time(&mut fields, rules)?
                    .or(id.map(|id| id::time_of(id.0)))
                    .ok_or_else(|| {
                        fields.refuse("createdAt", "is missing; only a line with an id needs none")
                    })?;
                let said = match fields.take("boundary") {
                    Some(boundary) => Said::Boundary(parse_boundary(&mut fields, boundary, rules)?),
                    None => Said::Message(Message::parse(&mut fields, rules)?),
                };
                Self::Message(Box::new(MessageLine {
                    key,
                    id,
                    created_at,
                    said,
                    canonical,
                }))
            }
            _ => return Err(fields.refuse("type", "is \"thread\" or \"message\"")),
        };
        fields.finish()?;
        Ok(line)
    }
}

impl Message {
    fn parse(fields: &mut Fields, rules: &Rules) -> Result<Self> {
        let turn_id = fields.text("turnId")?;
        turn_id
            .as_deref()
            .map_or(Ok(()), |turn_id| id::check_name("turnId", turn_id))?;
        let role = fields.needed_text("role")?;
        let role = Role::from_name(&role)
            .ok_or_else(|| fields.refuse("role", "is \"user\", \"assistant\", \"tool\" or \"system\""))?;
        let outcome = fields.text("outcome")?;
        let outcome = outcome
            .as_deref()
            .map_or(Some(Outcome::Completed), Outcome::from_name)
            .ok_or_else(|| fields.refuse("outcome", "is \"completed\" or \"stopped\""))?;
        let content = match (fields.take("content"), fields.text("text")?) {
            (Some(content), None) => content,
            (None, Some(text)) => text_content(text),
            (Some(_), Some(_)) => return Err(fields.refuse("content", "and text: a line has one of them")),
            (None, None) => return Err(fields.refuse("content", "or text is missing")),
        };
        let content = Content::new(&content, "content", rules.limits.message_bytes)?;
        if role == Role::Assistant && outcome != Outcome::Stopped && content.is_silent() {
            return Err(fields.refuse(
                "content",
                "of an assistant says nothing: that is kept only of a stopped turn",
            ));
        }
        let message = Self {
            turn_id,
            outcome,
            role,
            content,
            tokens: fields.count("tokens")?,
            stopped: fields.flag("stopped")?,
            late: fields.flag("late")?.unwrap_or(false),
        };
        if message.stopped == Some(true) && (outcome != Outcome::Stopped || role != Role::Assistant) {
            return Err(fields.refuse("stopped", "is for the last assistant message of a stopped turn"));
        }
        Ok(message)
    }
}

/// A boundary has none of a message's fields, but for the values that an export writes into them.
fn parse_boundary(fields: &mut Fields, boundary: Json, rules: &Rules) -> Result<Boundary> {
    let empty = [
        ("role", Some("system".into())),
        ("content", Json::parse(Content::empty().as_str().as_bytes()).ok()),
        ("text", Some("".into())),
        ("stopped", Some(Json::Bool(false))),
        ("late", Some(Json::Bool(false))),
        ("turnId", None),
        ("tokens", None),
        ("outcome", None),
    ];
    for (name, allowed) in empty {
        if fields.take(name).is_some_and(|given| Some(given) != allowed) {
            let allowed = allowed.map_or_else(|| "null".to_owned(), |allowed| allowed.to_string());
            return Err(fields.refuse(name, &format!("of a boundary is {allowed}")));
        }
    }
    let mut fields = Fields::new("boundary.", boundary)?;
    let reason = fields.needed_text("reason")?;
    let summary = fields.text("summary")?;
    let through = parse_own_id(&mut fields, "throughMessageId", |id: &MessageId| id.0)?;
    let reason = match (reason.as_str(), summary) {
        ("reset", None) => BoundaryReason::Reset,
        ("reset", Some(_)) => return Err(fields.refuse("summary", "is for a compaction")),
        ("compaction", Some(summary)) if !summary.trim().is_empty() => BoundaryReason::Compaction { summary },
        ("compaction", _) => return Err(fields.refuse("summary", "of a compaction is missing or blank")),
        _ => return Err(fields.refuse("reason", "is \"reset\" or \"compaction\"")),
    };
    let boundary = Boundary { reason, through };
    let most = rules.limits.message_bytes;
    if boundary.summary().is_some_and(|summary| summary.len() > most) {
        return Err(fields.refuse("summary", &format!("has at most {most} bytes")));
    }
    if boundary.summary().is_some() && through.is_none() {
        return Err(fields.refuse("throughMessageId", "of a compaction is missing"));
    }
    fields.finish()?;
    Ok(boundary)
}

/// Whether ids have to be made from the line itself. A boundary is of no turn.
fn needs_ids(line: &Json) -> bool {
    let lacks = |name| matches!(line.get(name), None | Some(Json::Null));
    lacks("id") || (lacks("turnId") && lacks("boundary"))
}

fn text_content(text: String) -> Json {
    let part = vec![
        ("type".to_owned(), "text".into()),
        ("text".to_owned(), Json::String(text)),
    ];
    Json::Object(vec![("parts".to_owned(), Json::Array(vec![Json::Object(part)]))])
}

fn parse_own_id<I: FromStr<Err = Error>>(
    fields: &mut Fields,
    name: &str,
    uuid: fn(&I) -> Uuid,
) -> Result<Option<I>> {
    let Some(text) = fields.text(name)? else {
        return Ok(None);
    };
    let id: I = text
        .parse()
        .map_err(|error| fields.refuse(name, &format!("cannot be used: {error}")))?;
    if !id::is_time_ordered(uuid(&id)) {
        return Err(fields.refuse(name, "has to be a UUID of version 7, for its time is its place"));
    }
    Ok(Some(id))
}

fn parse_id<I: FromStr<Err = Error>>(
    fields: &mut Fields,
    rules: &Rules,
    uuid: fn(&I) -> Uuid,
) -> Result<Option<I>> {
    let id = parse_own_id(fields, "id", uuid)?;
    match &id {
        Some(given) if id::time_of(uuid(given)) > rules.latest => {
            Err(fields.refuse("id", "has its time in the future"))
        }
        _ => Ok(id),
    }
}

fn parse_time(fields: &mut Fields, rules: &Rules) -> Result<Option<DateTime<Utc>>> {
    let Some(text) = fields.text("createdAt")? else {
        return Ok(None);
    };
    // By way of a number of microseconds: finer digits go, and a leap second becomes the second after it.
    let time = DateTime::parse_from_rfc3339(&text)
        .ok()
        .and_then(|time| DateTime::from_timestamp_micros(time.timestamp_micros()));
    match time {
        None => Err(fields.refuse("createdAt", "is a time like 2026-01-31T12:00:00.000000Z")),
        Some(time) if time < DateTime::UNIX_EPOCH => Err(fields.refuse("createdAt", "is before 1970")),
        Some(time) if time > rules.latest => Err(fields.refuse("createdAt", "is in the future")),
        time => Ok(time),
    }
}
