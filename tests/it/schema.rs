//! The committed schema.

use async_graphql::parser::parse_schema;
use async_graphql::parser::types::{TypeKind, TypeSystemDefinition};
use threadline::graphql;

#[test]
fn the_committed_schema_is_the_one_that_is_served() {
    let served = graphql::sdl(&graphql::schema());
    let committed = include_str!("../../schema.graphql");
    assert!(
        served == committed,
        "schema.graphql is stale: cargo run -- schema > schema.graphql"
    );
}

#[test]
fn everything_in_the_schema_says_what_it_is_for() {
    let document = parse_schema(graphql::sdl(&graphql::schema())).unwrap();
    let mut silent = Vec::new();
    let mut look = |name: String, described: bool| {
        if !described {
            silent.push(name);
        }
    };
    for definition in &document.definitions {
        let TypeSystemDefinition::Type(found) = definition else {
            continue;
        };
        let of = &found.node.name.node;
        look(of.to_string(), found.node.description.is_some());
        match &found.node.kind {
            TypeKind::Object(object) => {
                for field in &object.fields {
                    let field = &field.node;
                    look(format!("{of}.{}", field.name.node), field.description.is_some());
                    for argument in &field.arguments {
                        let name = format!("{of}.{}({})", field.name.node, argument.node.name.node);
                        // A mutation's only argument is described by its type.
                        look(name, argument.node.description.is_some() || of == "Mutation");
                    }
                }
            }
            TypeKind::InputObject(input) => {
                for field in &input.fields {
                    look(
                        format!("{of}.{}", field.node.name.node),
                        field.node.description.is_some(),
                    );
                }
            }
            TypeKind::Enum(values) => {
                for value in &values.values {
                    look(
                        format!("{of}.{}", value.node.value.node),
                        value.node.description.is_some(),
                    );
                }
            }
            _ => {}
        }
    }
    assert_eq!(silent, Vec::<String>::new());
}
