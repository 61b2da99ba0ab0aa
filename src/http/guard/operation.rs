//! The name of an operation for those who watch: made of the schema's words, never of the caller's.

use std::collections::BTreeSet;

use async_graphql::parser::types::{
    ExecutableDocument, OperationDefinition, OperationType, Selection, SelectionSet,
};

use crate::graphql::has_name;

/// The operation's kind and its root field, `query agent`; `query several` when there are different ones. What the
/// schema does not have is `unknown`, so there are few such names.
pub(super) fn name(document: &ExecutableDocument, operation: &OperationDefinition) -> String {
    let mut fields = BTreeSet::new();
    add(document, &operation.selection_set.node, &mut fields);
    let kind = match operation.ty {
        OperationType::Query => "query",
        OperationType::Mutation => "mutation",
        OperationType::Subscription => "subscription",
    };
    let field = match fields.first() {
        Some(field) if fields.len() == 1 && has_name(field) => field,
        Some(_) if fields.len() == 1 => "unknown",
        _ => "several",
    };
    format!("{kind} {field}")
}

/// Adds the fields of a selection; the guard has bounded how far its fragments expand.
fn add<'a>(document: &'a ExecutableDocument, set: &'a SelectionSet, fields: &mut BTreeSet<&'a str>) {
    for selection in &set.items {
        match &selection.node {
            Selection::Field(field) => {
                fields.insert(field.node.name.node.as_str());
            }
            Selection::InlineFragment(fragment) => add(document, &fragment.node.selection_set.node, fields),
            Selection::FragmentSpread(spread) => {
                if let Some(fragment) = document.fragments.get(&spread.node.fragment_name.node) {
                    add(document, &fragment.node.selection_set.node, fields);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use async_graphql::parser::parse_query;

    use super::name;

    #[test]
    fn an_operation_is_named_by_its_root_field_and_never_by_the_caller() {
        for (query, expected) in [
            ("{ viewer { role } }", "query viewer"),
            ("query Mine { mine: agent(id: \"a\") { id } }", "query agent"),
            ("{ a: agent(id: 1) { id } b: agent(id: 2) { id } }", "query agent"),
            (
                "{ ...F } fragment F on Query { ... { thread(id: 1) { id } } }",
                "query thread",
            ),
            ("{ viewer { role } agent(id: 1) { id } }", "query several"),
            ("mutation { resetThread { drawn } }", "mutation resetThread"),
            ("{ madeUp }", "query unknown"),
        ] {
            let document = parse_query(query).unwrap();
            let (_, operation) = document.operations.iter().next().unwrap();
            assert_eq!(name(&document, &operation.node), expected, "{query}");
        }
    }
}
