//! A GraphQL document of anybody: refused with a code, or answered.
//!
//! An input is the variables' JSON, a byte 0 and the document; without a 0 it is all document.
#![no_main]

mod nobody;

use std::sync::{Arc, LazyLock};

use async_graphql::{Name, Request, Variables};
use futures::executor::block_on;
use libfuzzer_sys::fuzz_target;
use threadline::{
    chat::{
        gateway::{Gateway, GatewayLimits},
        json::Json,
        scope::Scope,
    },
    graphql::{self, Schema, Session, json},
    http::guard::{self, Limits},
};

static SCHEMA: LazyLock<Schema> = LazyLock::new(graphql::schema);
static GATEWAY: LazyLock<Gateway> = LazyLock::new(|| {
    let opened = Gateway::open(Arc::new(nobody::Nobody), &[], GatewayLimits::default());
    block_on(opened).expect("nothing to fail")
});

fuzz_target!(|input: &[u8]| {
    let Ok(input) = std::str::from_utf8(input) else {
        return;
    };
    let (variables, query) = input.split_once('\0').unwrap_or(("{}", input));
    let mut variables = match Json::parse(variables.as_bytes()) {
        Ok(Json::Object(members)) => {
            members
                .into_iter()
                .fold(Variables::default(), |mut variables, (name, value)| {
                    variables.insert(Name::new(name), json::read(value));
                    variables
                })
        }
        _ => Variables::default(),
    };
    match guard::check(query, None, &mut variables, &Limits::default()) {
        Ok(document) => {
            let mut request = Request::new(query).variables(variables);
            request = request.data(Session::new(GATEWAY.clone(), Scope::local()));
            request.set_parsed_query(document.parsed);
            let mut answer = block_on(SCHEMA.execute(request));
            document.order.apply(&mut answer.data);
            let mut written = Vec::new();
            json::write(&answer.data, &mut written);
            Json::parse(&written).expect("an answer is JSON");
        }
        Err(error) => {
            let extensions = error.extensions.as_ref();
            let code = extensions.and_then(|extensions| extensions.get("code"));
            assert!(code.is_some(), "a refusal has a code: {error:?}");
        }
    }
});
