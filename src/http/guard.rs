//! The document guard: what a GraphQL document may ask for, decided before async-graphql sees it.
//!
//! async-graphql's parser recurses once for every nested value and its validator follows every fragment spread,
//! so both may only be given documents that are known to be small. [`check`] reads the text once (`scan`),
//! parses it, and measures the parsed document with one visit per fragment (`cost`).

mod absent;
mod cost;
mod limits;
mod literals;
mod operation;
mod scan;
#[cfg(test)]
mod tests;

use async_graphql::parser::parse_query;
use async_graphql::parser::types::{
    DocumentOperations, ExecutableDocument, OperationDefinition, OperationType,
};
use async_graphql::{ErrorExtensionValues, Pos, Positioned, ServerError, Value, Variables};

pub use limits::Limits;

use crate::{chat::error::ErrorCode, graphql::Order};

/// A document that passed the guard.
#[derive(Debug)]
pub struct Document {
    /// The parsed document.
    pub parsed: ExecutableDocument,
    /// What the operation that is going to run does.
    pub operation: OperationType,
    /// How many fields that has at its root.
    pub root_fields: u32,
    /// Whether it asks for the schema.
    pub introspects: bool,
    /// What it is called by those who watch: `query agent`.
    pub name: String,
    /// The order that its answer's fields have.
    pub order: Order,
}

/// Checks and parses a document, and puts the defaults of the chosen operation into `variables`.
pub fn check(
    query: &str,
    operation_name: Option<&str>,
    variables: &mut Variables,
    limits: &Limits,
) -> Result<Document, ServerError> {
    let literals = scan::scan(query, limits)?;
    let mut parsed = parse_query(query).map_err(invalid_syntax)?;
    literals::restore(&mut parsed, literals)?;
    let chosen = choose(&parsed, operation_name)?;
    fill(chosen, variables)?;
    absent::leave_out(&mut parsed, operation_name, variables);
    let chosen = choose(&parsed, operation_name)?;
    let asked = cost::measure(&parsed, chosen, variables, limits)?;
    let operation = chosen.node.ty;
    let name = operation::name(&parsed, &chosen.node);
    let order = Order::of(&parsed, &chosen.node);
    Ok(Document {
        parsed,
        operation,
        root_fields: u32::try_from(asked.root_fields).unwrap_or(u32::MAX),
        introspects: asked.introspects,
        name,
        order,
    })
}

/// Checks a document that may come with any variables: each is taken to be 1, the smallest limit of a page.
pub(super) fn check_listed(query: &str, limits: &Limits) -> Result<(), ServerError> {
    let literals = scan::scan(query, limits)?;
    let mut parsed = parse_query(query).map_err(invalid_syntax)?;
    literals::restore(&mut parsed, literals)?;
    for (_, operation) in parsed.operations.iter() {
        let definitions = operation.node.variable_definitions.iter();
        let ones = definitions.map(|definition| (definition.node.name.node.clone(), Value::from(1)));
        let variables = Variables::from_value(Value::Object(ones.collect()));
        cost::measure(&parsed, operation, &variables, limits)?;
    }
    Ok(())
}

/// The operation that a request runs: the named one, or the only one.
fn choose<'a>(
    document: &'a ExecutableDocument,
    name: Option<&str>,
) -> Result<&'a Positioned<OperationDefinition>, ServerError> {
    match (&document.operations, name) {
        (DocumentOperations::Single(operation), None) => Ok(operation),
        (DocumentOperations::Multiple(operations), Some(name)) if operations.contains_key(name) => {
            Ok(&operations[name])
        }
        (DocumentOperations::Multiple(operations), None) if operations.len() == 1 => {
            Ok(operations.values().next().expect("there is one"))
        }
        (_, None) => Err(invalid(
            "the document has several operations: name one in operationName",
            None,
        )),
        (_, Some(name)) => Err(invalid(
            format!("the document has no operation named \"{name}\""),
            None,
        )),
    }
}

/// Gives variables their defaults, and refuses the request when a required one is missing.
///
/// async-graphql forgets a variable's default in `@skip` and `@include`, and that an unused variable is required;
/// after this there is nothing to forget.
fn fill(operation: &Positioned<OperationDefinition>, variables: &mut Variables) -> Result<(), ServerError> {
    for definition in &operation.node.variable_definitions {
        let name = &definition.node.name.node;
        if let Some(default) = &definition.node.default_value {
            variables
                .entry(name.clone())
                .or_insert_with(|| default.node.clone());
        }
        let given = variables.get(name).is_some_and(|value| *value != Value::Null);
        if !given && !definition.node.var_type.node.nullable {
            let message = format!("the variable \"${name}\" is required");
            return Err(refusal(ErrorCode::BadUserInput, message, Some(definition.pos)));
        }
    }
    Ok(())
}

/// The parser shows the line that it stopped at, which may hold what somebody said: only what it expected is told.
fn invalid_syntax(error: async_graphql::parser::Error) -> ServerError {
    let mut error = ServerError::from(error);
    if let Some((_, expected)) = error.message.rsplit_once("\n  = ") {
        error.message = format!("syntax error: {expected}");
    }
    error.extensions = code(ErrorCode::GraphqlValidationFailed);
    error
}

fn too_complex(message: impl Into<String>, pos: Option<Pos>) -> ServerError {
    refusal(ErrorCode::QueryTooComplex, message, pos)
}

/// The refusal of a question for a schema that is not shown: async-graphql would answer null without a word.
pub(super) fn no_introspection() -> ServerError {
    invalid(
        "the schema of this server cannot be asked for (graphql.introspection)",
        None,
    )
}

fn invalid(message: impl Into<String>, pos: Option<Pos>) -> ServerError {
    refusal(ErrorCode::GraphqlValidationFailed, message, pos)
}

fn refusal(of: ErrorCode, message: impl Into<String>, pos: Option<Pos>) -> ServerError {
    let mut error = ServerError::new(message, pos);
    error.extensions = code(of);
    error
}

fn code(of: ErrorCode) -> Option<ErrorExtensionValues> {
    let mut extensions = ErrorExtensionValues::default();
    extensions.set("code", of.as_str());
    Some(extensions)
}
