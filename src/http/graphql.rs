//! GraphQL over HTTP: one endpoint by POST and GET, as the specification's audits test it.

mod accept;
mod answer;
mod params;

use async_graphql::parser::types::OperationType;
use axum::{
    body::Bytes,
    extract::{Extension, Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header},
    middleware::Next,
    response::Response,
};
use tracing::Instrument;

use self::{accept::Media, params::Params};
use super::{App, assets, auth::Viewer, documents, guard, refusal::Refusal};
use crate::{chat::error::ErrorCode, graphql::Session};

/// A browser that asks the endpoint for nothing gets the playground, which needs no token.
pub(super) async fn browse(request: Request, next: Next) -> Response {
    let is_asked_for = request.method() == Method::GET
        && accept::wants_html(request.headers())
        && matches!(Params::from_query(request.uri()), Ok(None));
    if is_asked_for {
        return assets::playground(request.headers());
    }
    next.run(request).await
}

/// `POST /graphql`: the parameters are a JSON object.
pub(super) async fn post(
    State(app): State<App>,
    Extension(viewer): Extension<Viewer>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let media = match accept::media(&headers) {
        Ok(media) => media,
        Err(refusal) => return refusal.graphql(Media::Json.as_str()),
    };
    let params = accept::is_json(&headers).and_then(|()| Params::from_json(&body, app.limits.json_values));
    match params {
        Ok(params) => run(&app, viewer, params, media, &Method::POST).await,
        Err(refusal) => refusal.graphql(media.as_str()),
    }
}

/// `GET /graphql?query=`: the parameters are those of the URL.
pub(super) async fn get(
    State(app): State<App>,
    Extension(viewer): Extension<Viewer>,
    headers: HeaderMap,
    uri: Uri,
) -> Response {
    let media = match accept::media(&headers) {
        Ok(media) => media,
        Err(refusal) => return refusal.graphql(Media::Json.as_str()),
    };
    let params = Params::from_query(&uri).and_then(|params| params.ok_or_else(params::nothing_asked));
    match params {
        Ok(params) => run(&app, viewer, params, media, &Method::GET).await,
        Err(refusal) => refusal.graphql(media.as_str()),
    }
}

async fn run(app: &App, viewer: Viewer, params: Params, media: Media, method: &Method) -> Response {
    let Params {
        asked,
        operation_name,
        mut variables,
    } = params;
    let query = match documents::choose(app.surface.documents.as_deref(), asked) {
        Ok(query) => query,
        Err(refusal) => return refusal.graphql(media.as_str()),
    };
    let checked = tracing::info_span!("graphql.check")
        .in_scope(|| guard::check(&query, operation_name.as_deref(), &mut variables, &app.limits));
    let document = match checked {
        Ok(document) if document.introspects && !app.surface.introspection => {
            return answer::refused(vec![guard::no_introspection()], media);
        }
        Ok(document) => document,
        Err(error) => return answer::refused(vec![error], media),
    };
    if method == Method::GET && document.operation != OperationType::Query {
        return only_by_post(media);
    }
    // The request itself was counted when it came in.
    if let Err(refusal) = app.rates.take(&viewer, document.root_fields.saturating_sub(1)) {
        return refusal.graphql(media.as_str());
    }
    let mut request = async_graphql::Request::new(query)
        .variables(variables)
        .data(Session::new(app.gateway.for_request(), viewer.scope));
    request.operation_name = operation_name;
    request.set_parsed_query(document.parsed);
    let span = tracing::info_span!("graphql.execute", otel.name = document.name);
    let mut response = app.schema.execute(request).instrument(span).await;
    document.order.apply(&mut response.data);
    answer::executed(response, document.name, media)
}

/// A link or an image must not be able to write.
fn only_by_post(media: Media) -> Response {
    let message = "a GET may only run a query; send this by POST";
    let refusal = Refusal::new(StatusCode::METHOD_NOT_ALLOWED, ErrorCode::BadUserInput, message);
    let mut response = refusal.graphql(media.as_str());
    response
        .headers_mut()
        .insert(header::ALLOW, HeaderValue::from_static("POST"));
    response
}
