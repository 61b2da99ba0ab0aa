//! The order of an answer's fields.
//!
//! The specification wants them as the request wrote them (section 7.2.2, Serialized Map Ordering). async-graphql
//! 7.2 resolves the fields of an object side by side and keeps the order in which they were done.

use async_graphql::{
    Name, Value,
    indexmap::IndexMap,
    parser::types::{ExecutableDocument, OperationDefinition, Selection, SelectionSet},
};

/// The response keys of a selection in the order in which they first appear, each with those below it.
#[derive(Debug, Default)]
pub struct Order(IndexMap<Name, Order>);

impl Order {
    /// The order that an operation asks for. The guard has bounded how far its fragments expand.
    #[must_use]
    pub fn of(document: &ExecutableDocument, operation: &OperationDefinition) -> Self {
        let mut order = Self::default();
        order.add(document, &operation.selection_set.node);
        order
    }

    fn add(&mut self, document: &ExecutableDocument, set: &SelectionSet) {
        for selection in &set.items {
            match &selection.node {
                Selection::Field(field) => {
                    let key = field.node.response_key().node.clone();
                    let below = self.0.entry(key).or_default();
                    below.add(document, &field.node.selection_set.node);
                }
                Selection::InlineFragment(fragment) => self.add(document, &fragment.node.selection_set.node),
                Selection::FragmentSpread(spread) => {
                    if let Some(fragment) = document.fragments.get(&spread.node.fragment_name.node) {
                        self.add(document, &fragment.node.selection_set.node);
                    }
                }
            }
        }
    }

    /// Puts the fields of an answer into this order.
    pub fn apply(&self, value: &mut Value) {
        match value {
            Value::List(items) => items.iter_mut().for_each(|item| self.apply(item)),
            // Objects without a selection are JSON, whose keys are the caller's own.
            Value::Object(fields) if !self.0.is_empty() => {
                // As they mostly are: what waits for nothing is done in the order it was asked for.
                if fields.keys().eq(self.0.keys()) {
                    fields
                        .values_mut()
                        .zip(self.0.values())
                        .for_each(|(value, below)| below.apply(value));
                    return;
                }
                let mut unordered = std::mem::take(fields);
                for (key, below) in &self.0 {
                    if let Some((key, mut value)) = unordered.swap_remove_entry(key) {
                        below.apply(&mut value);
                        fields.insert(key, value);
                    }
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use async_graphql::{parser::parse_query, value};

    use super::Order;

    #[test]
    fn fields_come_as_the_request_wrote_them() {
        let document = parse_query(
            "{ b a: x { d ...F c } ... @include(if: true) { e } a: x { g } } fragment F on T { f { n m } }",
        )
        .unwrap();
        let (_, operation) = document.operations.iter().next().unwrap();
        let mut answer = value!({
            "e": 1, "a": [{ "g": 1, "c": 1, "f": { "m": 1, "n": { "z": 1, "y": 1 } }, "d": 1 }], "b": null,
        });
        Order::of(&document, &operation.node).apply(&mut answer);
        let expected = r#"{b: null, a: [{d: 1, f: {n: {z: 1, y: 1}, m: 1}, c: 1, g: 1}], e: 1}"#;
        assert_eq!(answer.to_string(), expected);
    }
}
