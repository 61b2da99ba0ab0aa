//! What a parsed document asks for, measured with one visit per fragment.

use std::collections::HashMap;

use async_graphql::parser::types::{
    Directive, ExecutableDocument, Field, FragmentSpread, OperationDefinition, Selection, SelectionSet,
};
use async_graphql::{Name, Pos, Positioned, ServerError, Variables};
use async_graphql_value::{ConstValue, Value};

use super::{Limits, invalid, too_complex};

/// The largest page: a higher limit is read as this one.
const PAGE: u64 = 200;

/// Fields that hold what was said; under other names it is in the answer once more.
const COPIED: [&str; 3] = ["content", "text", "summary"];

/// What a copy of it costs: an answer grows by all the bytes of its page with each.
const COPY: u64 = 25;

/// How often a list of introspection may hold another one; deeper, every level multiplies the answer.
const INTROSPECTION_LISTS: u64 = 2;

/// What the chosen operation asks for at its root.
#[derive(Default)]
pub(super) struct Asked {
    /// How many fields.
    pub(super) root_fields: u64,
    /// Whether the schema.
    pub(super) introspects: bool,
}

/// Refuses a document that asks for too much; the complexity is that of the chosen operation.
pub(super) fn measure(
    document: &ExecutableDocument,
    chosen: &Positioned<OperationDefinition>,
    variables: &Variables,
    limits: &Limits,
) -> Result<Asked, ServerError> {
    at_most(
        limits.fragments,
        document.fragments.len() as u64,
        "fragments",
        None,
    )?;
    let sizes = variables
        .iter()
        .map(|(name, value)| (name.as_str(), constant_size(value)))
        .collect();
    let mut meter = Meter {
        sizes,
        document,
        variables,
        limits,
        fragments: HashMap::new(),
    };
    let (mut fields, mut aliases, mut asked) = (0_u64, 0_u64, Asked::default());
    for (_, operation) in document.operations.iter() {
        let pos = Some(operation.pos);
        let mut cost = meter.directives(&operation.node.directives)?;
        for variable in &operation.node.variable_definitions {
            meter.directives(&variable.node.directives)?;
        }
        cost.add(meter.selections(&operation.node.selection_set.node, Parent::Other)?);
        fields = fields.saturating_add(cost.fields);
        aliases = aliases.saturating_add(cost.aliases);
        at_most(limits.root_fields, cost.width, "fields at its root", pos)?;
        cost.check(limits, pos)?;
        if std::ptr::eq(operation, chosen) {
            cost.check_complexity(limits, pos)?;
            asked = Asked {
                root_fields: cost.width,
                introspects: cost.introspects,
            };
        }
    }
    at_most(limits.fields, fields, "fields, fragments written out,", None)?;
    at_most(limits.aliases, aliases, "aliases", None)?;
    // A fragment that nothing spreads is validated as well.
    for (name, fragment) in &document.fragments {
        meter
            .fragment(name, Parent::Other, fragment.pos)?
            .check(limits, Some(fragment.pos))?;
    }
    Ok(asked)
}

fn at_most(limit: usize, count: u64, what: &str, pos: Option<Pos>) -> Result<(), ServerError> {
    if count > limit as u64 {
        return Err(too_complex(
            format!("the document has more than {limit} {what}"),
            pos,
        ));
    }
    Ok(())
}

/// The field that a selection set belongs to: `messages` is a page unless it lies right under one of those whose
/// messages are all that there are.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Parent {
    /// `context` or `appendTurn`.
    Whole,
    Other,
}

/// What a selection set costs, with its fragments written out.
#[derive(Clone, Copy, Default)]
struct Cost<'a> {
    fields: u64,
    aliases: u64,
    complexity: u64,
    depth: u64,
    /// Bytes of arguments, each variable counted wherever it is used.
    arguments: u64,
    /// Fields at the top of the set.
    width: u64,
    /// Lists of introspection inside each other.
    lists: u64,
    /// Whether the schema is asked for.
    introspects: bool,
    /// The page that costs most: the one to make smaller.
    heaviest: Option<Page<'a>>,
}

#[derive(Clone, Copy)]
struct Page<'a> {
    field: &'a str,
    limit: u64,
    item: u64,
    cost: u64,
}

impl<'a> Cost<'a> {
    fn add(&mut self, other: Self) {
        self.fields = self.fields.saturating_add(other.fields);
        self.aliases = self.aliases.saturating_add(other.aliases);
        self.complexity = self.complexity.saturating_add(other.complexity);
        self.width = self.width.saturating_add(other.width);
        self.arguments = self.arguments.saturating_add(other.arguments);
        self.depth = self.depth.max(other.depth);
        self.lists = self.lists.max(other.lists);
        self.introspects |= other.introspects;
        self.heaviest = [self.heaviest, other.heaviest]
            .into_iter()
            .flatten()
            .max_by_key(|page| page.cost);
    }

    fn check(&self, limits: &Limits, pos: Option<Pos>) -> Result<(), ServerError> {
        at_most(limits.fields, self.fields, "fields, fragments written out,", pos)?;
        at_most(limits.aliases, self.aliases, "aliases", pos)?;
        at_most(limits.depth, self.depth, "levels of fields", pos)?;
        // async-graphql copies a variable for every use: a large one that is used often would fill the memory.
        at_most(
            limits.body_bytes.saturating_mul(2),
            self.arguments,
            "bytes of arguments, variables written out,",
            pos,
        )?;
        if self.lists > INTROSPECTION_LISTS {
            return Err(too_complex("the introspection is nested too deep", pos));
        }
        Ok(())
    }

    /// Says which page to make smaller, and how small when that alone is enough.
    fn check_complexity(&self, limits: &Limits, pos: Option<Pos>) -> Result<(), ServerError> {
        let most = limits.complexity as u64;
        if self.complexity <= most {
            return Ok(());
        }
        let mut message = format!("the query costs {}, more than {most}", self.complexity);
        if let Some(page) = self.heaviest {
            let Page {
                field,
                limit,
                item,
                cost,
            } = page;
            let others = self.complexity.saturating_sub(cost).saturating_add(1);
            let fits = most.saturating_sub(others) / item.max(1);
            message += &match fits {
                0 => format!(": lower the `limit` of `{field}` (now {limit}) and of the lists inside it"),
                fits => format!(
                    ": lower the `limit` of `{field}` from {limit} to {fits}, or that of a list inside it"
                ),
            };
        }
        Err(too_complex(message, pos))
    }
}

struct Meter<'a> {
    document: &'a ExecutableDocument,
    variables: &'a Variables,
    /// How large each variable is.
    sizes: HashMap<&'a str, u64>,
    limits: &'a Limits,
    /// The cost of each fragment; none while it is being measured.
    fragments: HashMap<(&'a str, Parent), Option<Cost<'a>>>,
}

impl<'a> Meter<'a> {
    fn selections(&mut self, set: &'a SelectionSet, parent: Parent) -> Result<Cost<'a>, ServerError> {
        let mut total = Cost::default();
        for selection in &set.items {
            total.add(self.directives(selection.node.directives())?);
            total.add(match &selection.node {
                Selection::Field(field) => self.field(&field.node, parent)?,
                Selection::InlineFragment(inline) => {
                    self.selections(&inline.node.selection_set.node, parent)?
                }
                Selection::FragmentSpread(spread) => self.spread(spread, parent)?,
            });
        }
        Ok(total)
    }

    fn field(&mut self, field: &'a Field, parent: Parent) -> Result<Cost<'a>, ServerError> {
        let name = field.name.node.as_str();
        let whole = if matches!(name, "context" | "appendTurn") {
            Parent::Whole
        } else {
            Parent::Other
        };
        let inner = self.selections(&field.selection_set.node, whole)?;
        let limit = match (name, parent) {
            ("threads", _) | ("messages", Parent::Other) => Some(self.limit(field, 50)),
            ("context", _) => Some(self.limit(field, PAGE)),
            _ => None,
        };
        let times = limit.unwrap_or(1);
        let own = match field.alias {
            Some(_) if COPIED.contains(&name) => COPY,
            _ => 1,
        };
        let complexity = inner.complexity.saturating_mul(times).saturating_add(own);
        let page = limit.map(|limit| Page {
            field: name,
            limit,
            item: inner.complexity,
            cost: complexity,
        });
        let list = matches!(name, "fields" | "inputFields" | "interfaces" | "possibleTypes");
        Ok(Cost {
            fields: inner.fields.saturating_add(1),
            aliases: inner.aliases.saturating_add(u64::from(field.alias.is_some())),
            complexity,
            depth: inner.depth + 1,
            arguments: inner
                .arguments
                .saturating_mul(times)
                .saturating_add(self.arguments(&field.arguments)),
            width: 1,
            lists: inner.lists + u64::from(list),
            introspects: inner.introspects || matches!(name, "__schema" | "__type"),
            heaviest: page.or(inner.heaviest),
        })
    }

    /// The page size that a field asks for; what is no number is refused later, and costs the most until then.
    fn limit(&self, field: &Field, default: u64) -> u64 {
        let given = field.get_argument("limit").map(|argument| {
            let variable = |name| self.variables.get(&name).cloned().ok_or(());
            argument
                .node
                .clone()
                .into_const_with(variable)
                .unwrap_or_default()
        });
        match given.unwrap_or_default() {
            ConstValue::Null => default,
            ConstValue::Number(number) if number.as_i64().is_some_and(|number| number < 1) => 1,
            ConstValue::Number(number) => number.as_u64().map_or(PAGE, |number| number.clamp(1, PAGE)),
            _ => PAGE,
        }
    }

    /// How many bytes the arguments of one place have, about.
    fn arguments(&self, arguments: impl IntoIterator<Item = &'a Argument>) -> u64 {
        let sizes = arguments.into_iter().map(|(_, value)| self.size(&value.node));
        sizes.fold(0, u64::saturating_add)
    }

    fn size(&self, value: &Value) -> u64 {
        match value {
            Value::Variable(name) => self.sizes.get(name.as_str()).copied().unwrap_or(1),
            Value::List(items) => items
                .iter()
                .map(|item| self.size(item))
                .fold(1, u64::saturating_add),
            Value::Object(members) => members
                .iter()
                .map(|(name, member)| self.size(member).saturating_add(name.len() as u64))
                .fold(1, u64::saturating_add),
            Value::String(text) => text.len() as u64 + 1,
            _ => 1,
        }
    }

    fn spread(
        &mut self,
        spread: &'a Positioned<FragmentSpread>,
        parent: Parent,
    ) -> Result<Cost<'a>, ServerError> {
        self.fragment(&spread.node.fragment_name.node, parent, spread.pos)
    }

    fn fragment(&mut self, name: &'a str, parent: Parent, pos: Pos) -> Result<Cost<'a>, ServerError> {
        match self.fragments.get(&(name, parent)) {
            Some(Some(cost)) => return Ok(*cost),
            Some(None) => {
                return Err(invalid(
                    format!("the fragment \"{name}\" spreads itself"),
                    Some(pos),
                ));
            }
            None => {}
        }
        // The validator names a fragment that does not exist.
        let Some(fragment) = self.document.fragments.get(name) else {
            return Ok(Cost::default());
        };
        self.fragments.insert((name, parent), None);
        let mut cost = self.directives(&fragment.node.directives)?;
        cost.add(self.selections(&fragment.node.selection_set.node, parent)?);
        self.fragments.insert((name, parent), Some(cost));
        Ok(cost)
    }

    /// What the directives of one place cost: their arguments.
    fn directives(&self, directives: &'a [Positioned<Directive>]) -> Result<Cost<'a>, ServerError> {
        let pos = directives.first().map(|directive| directive.pos);
        let count = directives.len() as u64;
        at_most(self.limits.directives, count, "directives in one place", pos)?;
        let arguments = directives.iter().flat_map(|directive| &directive.node.arguments);
        Ok(Cost {
            arguments: self.arguments(arguments),
            ..Cost::default()
        })
    }
}

type Argument = (Positioned<Name>, Positioned<Value>);

/// How many bytes a value has, about.
fn constant_size(value: &ConstValue) -> u64 {
    match value {
        ConstValue::List(items) => 1 + items.iter().map(constant_size).sum::<u64>(),
        ConstValue::Object(members) => {
            let size = |(name, member): (&Name, &ConstValue)| name.len() as u64 + constant_size(member);
            1 + members.iter().map(size).sum::<u64>()
        }
        ConstValue::String(text) => text.len() as u64 + 1,
        _ => 1,
    }
}
