//! Variables that were not given.
//!
//! To the specification an argument or input field whose variable was not given is left out. async-graphql reads
//! null instead: `limit: $limit` would not get its default, and `boundaryId: $boundary` would say that there was no
//! boundary. So what such a variable stands for is taken out of the document.

use std::collections::HashSet;

use async_graphql::parser::types::{
    DocumentOperations, ExecutableDocument, OperationDefinition, Selection, SelectionSet,
};
use async_graphql::{Name, Variables};
use async_graphql_value::Value;

/// Takes out what the variables that the chosen operation was not given stand for.
pub(super) fn leave_out(document: &mut ExecutableDocument, name: Option<&str>, variables: &Variables) {
    let mut operations: Vec<(bool, &mut OperationDefinition)> = match &mut document.operations {
        DocumentOperations::Single(one) => vec![(true, &mut one.node)],
        DocumentOperations::Multiple(many) => many
            .iter_mut()
            .map(|(of, one)| (name.is_none_or(|name| of == name), &mut one.node))
            .collect(),
    };
    let Some((_, chosen)) = operations.iter_mut().find(|(is_chosen, _)| *is_chosen) else {
        return;
    };
    let absent: HashSet<Name> = chosen
        .variable_definitions
        .iter()
        .map(|definition| definition.node.name.node.clone())
        .filter(|name| !variables.contains_key(name))
        .collect();
    if absent.is_empty() {
        return;
    }
    let mut walk = Walk {
        absent: &absent,
        takes_out: true,
        taken: HashSet::new(),
        used: HashSet::new(),
    };
    walk.operation(chosen);
    for fragment in document.fragments.values_mut() {
        walk.selections(&mut fragment.node.selection_set.node);
    }
    let (taken, used_there) = (walk.taken, walk.used);
    // A definition without a use would be refused.
    for (is_chosen, operation) in operations {
        let mut used = used_there.clone();
        if !is_chosen {
            let mut walk = Walk {
                absent: &absent,
                takes_out: false,
                taken: HashSet::new(),
                used,
            };
            walk.operation(operation);
            used = walk.used;
        }
        operation.variable_definitions.retain(|definition| {
            let name = &definition.node.name.node;
            !taken.contains(name) || used.contains(name)
        });
    }
}

struct Walk<'a> {
    absent: &'a HashSet<Name>,
    takes_out: bool,
    /// Those that were taken out somewhere.
    taken: HashSet<Name>,
    /// Those that are still used somewhere: in a list or a directive, which cannot leave something out.
    used: HashSet<Name>,
}

impl Walk<'_> {
    fn operation(&mut self, operation: &mut OperationDefinition) {
        for directive in &mut operation.directives {
            for (_, value) in &mut directive.node.arguments {
                self.value(&mut value.node);
            }
        }
        self.selections(&mut operation.selection_set.node);
    }

    fn selections(&mut self, set: &mut SelectionSet) {
        for selection in &mut set.items {
            for directive in selection.node.directives_mut() {
                for (_, value) in &mut directive.node.arguments {
                    self.value(&mut value.node);
                }
            }
            match &mut selection.node {
                Selection::Field(field) => {
                    let field = &mut field.node;
                    field
                        .arguments
                        .retain_mut(|(_, value)| self.keeps(&mut value.node));
                    self.selections(&mut field.selection_set.node);
                }
                Selection::InlineFragment(inline) => self.selections(&mut inline.node.selection_set.node),
                Selection::FragmentSpread(_) => {}
            }
        }
    }

    /// Whether an argument or input field stays.
    fn keeps(&mut self, value: &mut Value) -> bool {
        if let Value::Variable(name) = value
            && self.takes_out
            && self.absent.contains(name)
        {
            self.taken.insert(name.clone());
            return false;
        }
        self.value(value);
        true
    }

    fn value(&mut self, value: &mut Value) {
        match value {
            Value::Variable(name) if self.absent.contains(name) => {
                self.used.insert(name.clone());
            }
            Value::List(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(members) => members.retain(|_, member| self.keeps(member)),
            _ => {}
        }
    }
}
