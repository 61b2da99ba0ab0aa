//! The GraphQL schema over the gateway: names and shapes, no rules.

mod agent;
mod batch;
mod connection;
mod error;
mod input;
pub mod json;
mod message;
mod mutation;
mod order;
mod query;
mod scalar;
mod session;
mod thread;

use std::{collections::HashSet, sync::LazyLock};

use async_graphql::{EmptySubscription, SDLExportOptions, SchemaBuilder};

pub use error::ErrorCode;
pub use mutation::Mutation;
pub use order::Order;
pub use query::Query;
pub use session::Session;

/// The executable schema.
pub type Schema = async_graphql::Schema<Query, Mutation, EmptySubscription>;

/// Builds the schema. Each request brings its own [`Session`].
#[must_use]
pub fn schema() -> Schema {
    builder().finish()
}

/// The same schema, which does not tell what is in it: neither when asked nor as a hint in an error.
#[must_use]
pub fn hidden_schema() -> Schema {
    builder().disable_introspection().disable_suggestions().finish()
}

fn builder() -> SchemaBuilder<Query, Mutation, EmptySubscription> {
    Schema::build(Query, Mutation, EmptySubscription).register_output_type::<ErrorCode>()
}

/// Whether the schema has a name; one that it has not was made up by a caller.
#[must_use]
pub fn has_name(name: &str) -> bool {
    static NAMES: LazyLock<HashSet<String>> = LazyLock::new(|| schema().names().into_iter().collect());
    NAMES.contains(name) || matches!(name, "__typename" | "__schema" | "__type")
}

/// The schema in the definition language, as `schema.graphql` has it.
#[must_use]
pub fn sdl(schema: &Schema) -> String {
    let options = SDLExportOptions::new()
        .sorted_fields()
        .sorted_arguments()
        .sorted_enum_items()
        .include_specified_by()
        .use_space_ident();
    schema.sdl_with_options(options)
}
