//! The HTTP side: GraphQL, the REST lists, the playground and the health checks, behind one router.

pub mod admin;
mod assets;
pub mod auth;
mod bounds;
mod cors;
mod documents;
mod graphql;
pub mod guard;
mod headers;
mod health;
mod host;
mod observe;
pub mod rate;
mod refusal;
mod rest;
pub mod serve;
mod surface;

use axum::{
    Router,
    extract::DefaultBodyLimit,
    http::{StatusCode, Uri},
    middleware,
    response::{Redirect, Response},
    routing::get,
};
use tower::ServiceBuilder;

pub use self::{cors::Origins, documents::Documents, surface::Surface};

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
    /// What is open.
    pub surface: Surface,
}

/// Every path that the server answers. Of layers, the outermost stands first.
pub fn router(app: App) -> Router {
    let bound = middleware::from_fn_with_state(app.limits.clone(), bounds::bound);
    let playground = app.surface.graphiql.then(|| middleware::from_fn(graphql::browse));
    let of_chats = ServiceBuilder::new()
        // A browser that asks for nothing gets the playground.
        .option_layer(playground)
        // Who asks is known,
        .layer(middleware::from_fn_with_state(app.clone(), auth::require))
        // asks not too often,
        .layer(middleware::from_fn_with_state(app.clone(), rate::limit))
        // and for no longer than it may.
        .layer(bound.clone());
    let this_machine = app.auth.is_open().then(|| middleware::from_fn(host::only_this));
    let origins = app.surface.origins.layer();
    let of_all = ServiceBuilder::new()
        // Every answer has an id and is counted.
        .layer(middleware::from_fn(observe::observe))
        // Every answer tells browsers what not to do with it.
        .layer(middleware::from_fn(headers::secure))
        // A refusal that leaves a body unread ends the connection, and says so.
        .layer(middleware::from_fn(bounds::say_when_unread))
        // A panic is an answer.
        .layer(middleware::from_fn(bounds::catch))
        // Without auth only this machine is answered.
        .option_layer(this_machine)
        // Listed pages of other sites may read answers, refusals too; a preflight goes no further.
        .option_layer(origins.map(|cors| middleware::from_fn_with_state(cors, cors::share)))
        // The bounds read every body themselves, and know how large it may be.
        .layer(DefaultBodyLimit::disable());
    let chats = Router::new()
        .route("/graphql", get(graphql::get).post(graphql::post))
        .route("/agents/{agent_id}/chat/messages", get(rest::agent_messages))
        .route("/agents/{agent_id}/chat/threads", get(rest::threads))
        .route(
            "/agents/{agent_id}/chat/threads/{thread_id}/messages",
            get(rest::thread_messages),
        )
        .layer(of_chats);
    chats
        .merge(pages(&app.surface).layer(bound))
        .fallback(no_such_path)
        .method_not_allowed_fallback(no_such_method)
        .layer(of_all)
        .with_state(app)
}

/// What needs no token.
fn pages(surface: &Surface) -> Router<App> {
    let mut pages = Router::new()
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready));
    if surface.introspection {
        pages = pages.route("/schema.graphql", get(health::sdl));
    }
    if surface.graphiql {
        pages = pages
            .route("/", get(async || Redirect::temporary("/graphiql")))
            .route("/graphiql", get(assets::graphiql))
            .route("/graphiql/{file}", get(assets::file));
    }
    pages
}

async fn no_such_path(uri: Uri) -> Response {
    Refusal::not_found("the path").at(uri.path())
}

/// The router adds the `Allow` header.
async fn no_such_method(uri: Uri) -> Response {
    let message = "the path does not know this method; the Allow header names those it knows";
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, ErrorCode::BadUserInput, message).at(uri.path())
}
