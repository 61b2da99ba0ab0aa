//! The digits of a document's numbers, and what its block strings say.
//!
//! async-graphql reads a number as serde_json does, which spells every exponent `e+5` or `e-5`, and it leaves the
//! backslash of `\"""` and the blanks of some blank lines in a block string. What is stored has to come back as it was
//! written, so numbers that were respelled get their own text back, and block strings what the specification reads.

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

/// The numbers and strings of a text.
#[derive(Default)]
pub(super) struct Literals<'a> {
    /// How many numbers there are.
    pub(super) numbers: usize,
    /// Those that the parser respells: the how-manieth it is, and how it was written.
    pub(super) respelled: Vec<(usize, &'a str)>,
    /// How many strings there are.
    pub(super) strings: usize,
    /// The block strings: the how-manieth string it is, and what stands between its quotes.
    pub(super) blocks: Vec<(usize, &'a str)>,
}

/// Puts the texts back, walking the document in the order it was written in.
pub(super) fn restore(document: &mut ExecutableDocument, literals: Literals<'_>) -> Result<(), ServerError> {
    let mut walk = Walk {
        numbers: 0,
        respelled: literals.respelled.into_iter().peekable(),
        strings: 0,
        blocks: literals.blocks.into_iter().peekable(),
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
    if walk.numbers != literals.numbers {
        return Err(invalid("a number must be set off from the name before it", None));
    }
    if walk.strings != literals.strings {
        return Err(invalid("a string stands where none may", None));
    }
    Ok(())
}

enum Definition<'a> {
    Operation(&'a mut OperationDefinition),
    Fragment(&'a mut Vec<Positioned<Directive>>, &'a mut SelectionSet),
}

struct Walk<'a> {
    /// How many numbers were met.
    numbers: usize,
    respelled: Peekable<IntoIter<(usize, &'a str)>>,
    /// How many strings were met.
    strings: usize,
    blocks: Peekable<IntoIter<(usize, &'a str)>>,
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
            Value::String(text) => self.string(text),
            Value::List(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(members) => members.values_mut().for_each(|member| self.value(member)),
            _ => {}
        }
    }

    fn constant(&mut self, value: &mut ConstValue) {
        match value {
            ConstValue::Number(number) => self.number(number),
            ConstValue::String(text) => self.string(text),
            ConstValue::List(items) => items.iter_mut().for_each(|item| self.constant(item)),
            ConstValue::Object(members) => members.values_mut().for_each(|member| self.constant(member)),
            _ => {}
        }
    }

    fn number(&mut self, number: &mut Number) {
        if let Some((_, text)) = self.respelled.next_if(|(at, _)| *at == self.numbers) {
            *number = Number::from_string_unchecked(text.to_owned());
        }
        self.numbers += 1;
    }

    fn string(&mut self, text: &mut String) {
        if let Some((_, block)) = self.blocks.next_if(|(at, _)| *at == self.strings) {
            *text = block_value(block);
        }
        self.strings += 1;
    }
}

/// What a block string says: `BlockStringValue` of the specification, section 2.9.4.
fn block_value(block: &str) -> String {
    let text = block
        .replace("\\\"\"\"", "\"\"\"")
        .replace("\r\n", "\n")
        .replace('\r', "\n");
    let blank = |c: char| matches!(c, ' ' | '\t');
    let is_blank = |line: &&str| line.chars().all(blank);
    let indented = text.split('\n').skip(1).filter(|line| !is_blank(line));
    let indent = indented
        .map(|line| line.len() - line.trim_start_matches(blank).len())
        .min()
        .unwrap_or(0);
    let lines = text.split('\n').enumerate().map(|(index, line)| match index {
        0 => line,
        // A blank line may be shorter than that.
        _ => line.get(indent..).unwrap_or(""),
    });
    let mut lines: Vec<_> = lines.skip_while(is_blank).collect();
    while lines.last().is_some_and(is_blank) {
        lines.pop();
    }
    lines.join("\n")
}
