//! GraphQL over HTTP: one endpoint by POST and GET, as the specification's audits test it.

mod accept;
mod answer;
mod params;

use async_graphql::parser::types::OperationType;
use axum::{
    body::Bytes,
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, Uri, header},
    response::Response,
};

use self::{accept::Media, params::Params};
use super::{App, assets, guard, refusal::Refusal};
use crate::{
    chat::{error::ErrorCode, scope::Scope},
    graphql::Session,
};

/// `POST /graphql`: the parameters are a JSON object.
pub(super) async fn post(State(app): State<App>, headers: HeaderMap, body: Bytes) -> Response {
    let media = match accept::media(&headers) {
        Ok(media) => media,
        Err(refusal) => return refusal.graphql(Media::Json.as_str()),
    };
    let params = accept::is_json(&headers).and_then(|()| Params::from_json(&body, app.limits.json_values));
    match params {
        Ok(params) => run(&app, params, media, Method::Post).await,
        Err(refusal) => refusal.graphql(media.as_str()),
    }
}

/// `GET /graphql?query=`: the parameters are those of the URL. A browser that asks for nothing gets the playground.
pub(super) async fn get(State(app): State<App>, headers: HeaderMap, uri: Uri) -> Response {
    let params = Params::from_query(&uri);
    if accept::wants_html(&headers) && matches!(params, Ok(None)) {
        return assets::playground(&headers);
    }
    let media = match accept::media(&headers) {
        Ok(media) => media,
        Err(refusal) => return refusal.graphql(Media::Json.as_str()),
    };
    match params.and_then(|params| params.ok_or_else(params::no_query)) {
        Ok(params) => run(&app, params, media, Method::Get).await,
        Err(refusal) => refusal.graphql(media.as_str()),
    }
}

#[derive(PartialEq)]
enum Method {
    Get,
    Post,
}

async fn run(app: &App, params: Params, media: Media, method: Method) -> Response {
    let Params {
        query,
        operation_name,
        mut variables,
    } = params;
    let document = match guard::check(&query, operation_name.as_deref(), &mut variables, &app.limits) {
        Ok(document) => document,
        Err(error) => return answer::refused(vec![error], media),
    };
    if method == Method::Get && document.operation != OperationType::Query {
        return only_by_post(media);
    }
    let mut request = async_graphql::Request::new(query)
        .variables(variables)
        .data(Session::new(app.gateway.clone(), Scope::local()));
    request.operation_name = operation_name;
    request.set_parsed_query(document.parsed);
    let mut response = app.schema.execute(request).await;
    document.order.apply(&mut response.data);
    answer::executed(response, media)
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
