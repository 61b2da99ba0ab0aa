//! The three lists over plain HTTP: the pages of GraphQL, with cursors that are good in both.

use async_graphql::{Name, Value};
use axum::{
    extract::{Extension, Path, Query, State, rejection::PathRejection},
    http::{HeaderValue, Uri, header},
    response::{IntoResponse, Response},
};
use chrono::{DateTime, SecondsFormat, Utc};

use super::{App, auth::Viewer, refusal::Refusal};
use crate::{
    chat::{
        cursor::{HistoryView, ThreadOrder},
        gateway::ThreadsRequest,
        id::ThreadId,
        model::{Boundary, Message, Thread},
        page::{DEFAULT_LIMIT, Page, PageRequest},
        scope::Scope,
    },
    graphql::json,
};

type Answer = Result<Response, Refusal>;
type PathOf<T> = Result<Path<T>, PathRejection>;

/// `GET /agents/{agentId}/chat/messages`: a page of an agent's messages over all its threads.
pub(super) async fn agent_messages(
    State(app): State<App>,
    Extension(Viewer { scope, .. }): Extension<Viewer>,
    path: PathOf<String>,
    uri: Uri,
) -> Answer {
    let agent_id = agent(&scope, readable(path)?)?;
    let page = app
        .gateway
        .agent_messages(&scope, &agent_id, &page_request(&uri)?)
        .await?;
    Ok(respond(page, message))
}

/// `GET /agents/{agentId}/chat/threads`: a page of an agent's threads.
pub(super) async fn threads(
    State(app): State<App>,
    Extension(Viewer { scope, .. }): Extension<Viewer>,
    path: PathOf<String>,
    uri: Uri,
) -> Answer {
    let asked = ThreadsRequest {
        agent_id: agent(&scope, readable(path)?)?,
        channel: None,
        person_id: None,
        order: ThreadOrder::Created,
        page: page_request(&uri)?,
    };
    Ok(respond(app.gateway.threads(&scope, asked).await?, thread))
}

/// `GET /agents/{agentId}/chat/threads/{threadId}/messages`: a page of a thread of this agent.
pub(super) async fn thread_messages(
    State(app): State<App>,
    Extension(Viewer { scope, .. }): Extension<Viewer>,
    path: PathOf<(String, String)>,
    uri: Uri,
) -> Answer {
    let (agent_id, thread_id) = readable(path)?;
    let agent_id = agent(&scope, agent_id)?;
    let page = page_request(&uri)?;
    // An id that is none is answered like an id of nobody.
    let thread = match thread_id.parse::<ThreadId>() {
        Ok(id) => app.gateway.thread(&scope, id).await?,
        Err(_) => None,
    };
    let thread = thread.filter(|thread| thread.key.agent_id == agent_id);
    let thread = thread.ok_or_else(|| Refusal::not_found("the thread"))?;
    let range = app.gateway.page_of(&scope, &thread, HistoryView::Full, &page)?;
    let page = app.gateway.messages(&scope, vec![range]).await?.pop();
    Ok(respond(page.expect("a range has a page"), message))
}

fn readable<T>(path: PathOf<T>) -> Result<T, Refusal> {
    path.map(|Path(names)| names)
        .map_err(|_| Refusal::bad_input("the path is not UTF-8"))
}

fn agent(scope: &Scope, agent_id: String) -> Result<String, Refusal> {
    if scope.sees_agent(&agent_id) {
        Ok(agent_id)
    } else {
        Err(Refusal::not_found("the agent"))
    }
}

/// `limit` and `cursor`, each at most once, and nothing else.
fn page_request(uri: &Uri) -> Result<PageRequest, Refusal> {
    let Query(pairs) = Query::<Vec<(String, String)>>::try_from_uri(uri)
        .map_err(|_| Refusal::bad_input("the query string cannot be read"))?;
    let (mut limit, mut cursor) = (None, None);
    for (name, value) in pairs {
        let twice = match name.as_str() {
            "limit" => limit.replace(whole_number(&value)?).is_some(),
            "cursor" => cursor.replace(value).is_some(),
            _ => {
                return Err(Refusal::bad_input(
                    "the query parameters are `limit` and `cursor`, and no others",
                ));
            }
        };
        if twice {
            return Err(Refusal::bad_input(format!("`{name}` is given twice")));
        }
    }
    Ok(PageRequest {
        limit: limit.unwrap_or(i64::from(DEFAULT_LIMIT)),
        cursor,
    })
}

/// Any whole number of any size; one beyond 64 bits is read as the greatest.
fn whole_number(text: &str) -> Result<i64, Refusal> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Refusal::bad_input("`limit` is a whole number of at least 1"));
    }
    Ok(text.parse().unwrap_or(i64::MAX))
}

fn respond<T>(page: Page<T>, item: impl Fn(T) -> Value) -> Response {
    let page = object([
        ("items", page.items.into_iter().map(item).collect()),
        ("nextCursor", page.next_cursor.into()),
        ("hasMore", page.has_more.into()),
    ]);
    let mut body = Vec::new();
    json::write(&page, &mut body);
    (
        [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))],
        body,
    )
        .into_response()
}

fn thread(thread: Thread) -> Value {
    object([
        ("id", thread.id.to_string().into()),
        ("agentId", thread.key.agent_id.into()),
        ("channel", thread.key.channel.into()),
        ("personId", thread.key.person_id.into()),
        ("createdAt", time(thread.created_at)),
        ("lastMessageAt", time(thread.last_message_at)),
        ("messageCount", thread.message_count.into()),
    ])
}

fn message(message: Message) -> Value {
    let text = message.content.text();
    object([
        ("id", message.id.to_string().into()),
        ("threadId", message.thread_id.to_string().into()),
        ("turnId", message.turn.map(|turn| turn.id).into()),
        ("role", message.role.as_str().into()),
        ("content", Value::Binary(message.content.into_string().into())),
        ("text", text.into()),
        ("tokens", message.tokens.into()),
        ("stopped", message.stopped.into()),
        ("boundary", message.boundary.map(boundary).into()),
        ("inContext", message.in_context.into()),
        ("createdAt", time(message.created_at)),
    ])
}

fn boundary(boundary: Boundary) -> Value {
    let summary = boundary.summary().map(str::to_owned);
    object([
        ("reason", boundary.reason.as_str().into()),
        ("summary", summary.into()),
        (
            "throughMessageId",
            boundary.through.map(|id| id.to_string()).into(),
        ),
    ])
}

fn time(time: DateTime<Utc>) -> Value {
    time.to_rfc3339_opts(SecondsFormat::Micros, true).into()
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::Object(members.map(|(name, value)| (Name::new(name), value)).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(query: &str) -> Option<(i64, Option<String>)> {
        let uri = format!("/agents/a/chat/messages{query}").parse().unwrap();
        page_request(&uri).ok().map(|page| (page.limit, page.cursor))
    }

    #[test]
    fn a_limit_is_a_whole_number_of_any_size() {
        assert_eq!(asked(""), Some((50, None)));
        assert_eq!(asked("?limit=7"), Some((7, None)));
        assert_eq!(asked("?limit=99999999999999999999999999"), Some((i64::MAX, None)));
        for wrong in [
            "?limit=",
            "?limit=-1",
            "?limit=+1",
            "?limit=1.0",
            "?limit=x",
            "?limit=1e3",
            "?limit=%C2%B2",
        ] {
            assert_eq!(asked(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn parameters_are_known_and_given_once() {
        assert_eq!(asked("?cursor=a%2Bb&limit=2"), Some((2, Some("a+b".to_owned()))));
        assert_eq!(asked("?cursor="), Some((50, Some(String::new()))));
        for wrong in [
            "?limit=1&limit=1",
            "?cursor=a&cursor=a",
            "?x=1",
            "?Limit=1",
            "?limit=1&",
            "?&x",
        ] {
            assert_eq!(asked(wrong).is_none(), wrong != "?limit=1&", "{wrong}");
        }
    }
}
