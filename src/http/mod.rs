//! The HTTP side: GraphQL, the REST lists, the playground and the health checks, behind one router.

pub mod admin;
mod assets;
pub mod auth;
mod bounds;
mod graphql;
pub mod guard;
mod health;
mod host;
mod observe;
pub mod rate;
mod refusal;
mod rest;
pub mod serve;

use axum::{
    Router,
    extract::DefaultBodyLimit,
    http::{StatusCode, Uri},
    middleware,
    response::{Redirect, Response},
    routing::get,
};

use self::refusal::Refusal;
use crate::chat::{error::ErrorCode, gateway::Gateway};

/// What the handlers work with.
#[derive(Clone)]
pub struct App {
    /// The one door to chats.
    pub gateway: Gateway,
    /// The GraphQL schema over that door.
    pub schema: crate::graphql::Schema,
    /// How it is known who is asking.
    pub auth: auth::Auth,
    /// How often one may ask.
    pub rates: rate::Rates,
    /// What one request may cost.
    pub limits: guard::Limits,
}

/// Every path that the server answers.
pub fn router(app: App) -> Router {
    let bound = middleware::from_fn_with_state(app.limits.clone(), bounds::bound);
    let chats = Router::new()
        .route("/graphql", get(graphql::get).post(graphql::post))
        .route("/agents/{agent_id}/chat/messages", get(rest::agent_messages))
        .route("/agents/{agent_id}/chat/threads", get(rest::threads))
        .route(
            "/agents/{agent_id}/chat/threads/{thread_id}/messages",
            get(rest::thread_messages),
        )
        .layer(bound.clone())
        .layer(middleware::from_fn_with_state(app.clone(), rate::limit))
        .layer(middleware::from_fn_with_state(app.clone(), auth::require))
        .layer(middleware::from_fn(graphql::browse));
    let open = Router::new()
        .route("/", get(async || Redirect::temporary("/graphiql")))
        .route("/graphiql", get(assets::graphiql))
        .route("/graphiql/{file}", get(assets::file))
        .route("/schema.graphql", get(health::sdl))
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .layer(bound);
    let mut router = chats
        .merge(open)
        .fallback(no_such_path)
        .method_not_allowed_fallback(no_such_method)
        // The bounds read every body themselves, and know how large it may be.
        .layer(DefaultBodyLimit::disable());
    if app.auth.is_open() {
        router = router.layer(middleware::from_fn(host::only_this));
    }
    router
        .layer(middleware::from_fn(bounds::finish))
        // Outermost: every answer has an id and is counted.
        .layer(middleware::from_fn(observe::observe))
        .with_state(app)
}

async fn no_such_path(uri: Uri) -> Response {
    Refusal::not_found("the path").at(uri.path())
}

/// The router adds the `Allow` header.
async fn no_such_method(uri: Uri) -> Response {
    let message = "the path does not know this method; the Allow header names those it knows";
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, ErrorCode::BadUserInput, message).at(uri.path())
}
