//! What machines ask the server about itself.

use axum::{
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};

use super::{App, refusal::Refusal};

const TEXT: [(header::HeaderName, &str); 1] = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];

/// `GET /healthz`: the process answers.
pub(super) async fn alive() -> impl IntoResponse {
    (TEXT, "ok\n")
}

/// `GET /readyz`: the database can be read and written.
pub(super) async fn ready(State(app): State<App>) -> Result<Response, Refusal> {
    app.gateway.ready().await?;
    Ok((TEXT, "ready\n").into_response())
}

/// `GET /schema.graphql`: the schema, for people and code generators.
pub(super) async fn sdl(State(app): State<App>) -> impl IntoResponse {
    (TEXT, crate::graphql::sdl(&app.schema))
}
