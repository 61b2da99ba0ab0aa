//! The digits of a document's numbers.
//!
//! async-graphql reads a number as serde_json does, which spells every exponent `e+5` or `e-5`. What is stored has
//! to come back as it was written, so numbers that were respelled get their own text back.

use std::iter::Peekable;
use std::vec::IntoIter;

use async_graphql::Number;
use async_graphql::parser::types::{
    Directive, DocumentOperations, ExecutableDocument, OperationDefinition, Selection, SelectionSet,
    VariableDefinition,
};
use async_graphql::{Pos, Positioned, ServerError};
use async_graphql_value::{ConstValue, Value};

use super::invalid;

/// The numbers of a text.
#[derive(Default)]
pub(super) struct Numbers<'a> {
    /// How many there are.
    pub(super) count: usize,
    /// Those that the parser respells: the how-manieth it is, and how it was written.
    pub(super) respelled: Vec<(usize, &'a str)>,
}

/// Puts the texts back, walking the document in the order it was written in.
pub(super) fn restore(document: &mut ExecutableDocument, numbers: Numbers<'_>) -> Result<(), ServerError> {
    let mut walk = Walk {
        at: 0,
        left: numbers.respelled.into_iter().peekable(),
    };
    let mut definitions: Vec<(Pos, Definition<'_>)> = Vec::new();
    match &mut document.operations {
        DocumentOperations::Single(one) => definitions.push((one.pos, Definition::Operation(&mut one.node))),
        DocumentOperations::Multiple(many) => {
            definitions.extend(
                many.values_mut()
                    .map(|one| (one.pos, Definition::Operation(&mut one.node))),
            );
        }
    }
    definitions.extend(document.fragments.values_mut().map(|one| {
        let fragment = &mut one.node;
        (
            one.pos,
            Definition::Fragment(&mut fragment.directives, &mut fragment.selection_set.node),
        )
    }));
    definitions.sort_by_key(|(pos, _)| *pos);
    for (_, definition) in definitions {
        match definition {
            Definition::Operation(operation) => walk.operation(operation),
            Definition::Fragment(directives, selections) => {
                walk.directives(directives);
                walk.selections(selections);
            }
        }
    }
    // The parser takes `null1e5` for two values; to the specification, and to us, it is one name.
    if walk.at != numbers.count {
        return Err(invalid("a number must be set off from the name before it", None));
    }
    Ok(())
}

enum Definition<'a> {
    Operation(&'a mut OperationDefinition),
    Fragment(&'a mut Vec<Positioned<Directive>>, &'a mut SelectionSet),
}

struct Walk<'a> {
    /// How many numbers were met.
    at: usize,
    left: Peekable<IntoIter<(usize, &'a str)>>,
}

impl Walk<'_> {
    fn operation(&mut self, operation: &mut OperationDefinition) {
        for variable in &mut operation.variable_definitions {
            let VariableDefinition {
                directives,
                default_value,
                ..
            } = &mut variable.node;
            self.directives(directives);
            if let Some(default) = default_value {
                self.constant(&mut default.node);
            }
        }
        self.directives(&mut operation.directives);
        self.selections(&mut operation.selection_set.node);
    }

    fn selections(&mut self, set: &mut SelectionSet) {
        for selection in &mut set.items {
            if let Selection::Field(field) = &mut selection.node {
                field
                    .node
                    .arguments
                    .iter_mut()
                    .for_each(|(_, value)| self.value(&mut value.node));
            }
            self.directives(selection.node.directives_mut());
            match &mut selection.node {
                Selection::Field(field) => self.selections(&mut field.node.selection_set.node),
                Selection::InlineFragment(inline) => self.selections(&mut inline.node.selection_set.node),
                Selection::FragmentSpread(_) => {}
            }
        }
    }

    fn directives(&mut self, directives: &mut [Positioned<Directive>]) {
        let arguments = directives
            .iter_mut()
            .flat_map(|directive| &mut directive.node.arguments);
        arguments.for_each(|(_, value)| self.value(&mut value.node));
    }

    fn value(&mut self, value: &mut Value) {
        match value {
            Value::Number(number) => self.number(number),
            Value::List(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(members) => members.values_mut().for_each(|member| self.value(member)),
            _ => {}
        }
    }

    fn constant(&mut self, value: &mut ConstValue) {
        match value {
            ConstValue::Number(number) => self.number(number),
            ConstValue::List(items) => items.iter_mut().for_each(|item| self.constant(item)),
            ConstValue::Object(members) => members.values_mut().for_each(|member| self.constant(member)),
            _ => {}
        }
    }

    fn number(&mut self, number: &mut Number) {
        if let Some((_, text)) = self.left.next_if(|(at, _)| *at == self.at) {
            *number = Number::from_string_unchecked(text.to_owned());
        }
        self.at += 1;
    }
}
