//! The numbered lists of fields in a system message.

use std::fmt::Write as _;
use std::sync::Arc;

use crate::adapter::schema_text::{python_float, write_json};
use crate::adapter::words::{plain_member, python_name, python_str};
use crate::dialect::Dialect;
use crate::spec::{Constraint, FieldSpec};
use crate::text::docs::python_strip;
use crate::types::{AnswerShape, Choice, Kind, Type, TypeTree};
use crate::value::Value;

/// The entries of some fields, numbered from 1, trimmed as a whole (§4). `answer_shapes` says
/// whether the sentence about a field's answer shape is added: JSON's and XML's lists leave it out.
pub(crate) fn field_list(fields: &[Arc<FieldSpec>], dialect: Dialect, answer_shapes: bool) -> String {
    let mut list = String::new();
    for (at, field) in fields.iter().enumerate() {
        if at > 0 {
            list.push('\n');
        }
        // Writing to a string cannot fail.
        let _ = write!(list, "{}. `{}` ({}): ", at + 1, field.name, dialect.label(&field.tree));
        description(&mut list, field, answer_shapes);
        match dialect {
            Dialect::Plain => {
                if let Kind::Code { language } = &field.tree.present(&field.tree.root).kind {
                    list.push_str("\n    Type description: ");
                    code_description(&mut list, language);
                }
                members(&mut list, &field.tree);
            }
            Dialect::Dspy => type_descriptions(&mut list, &field.tree),
        }
        constraints(&mut list, field, dialect);
    }
    match dialect {
        Dialect::Plain => list.trim(),
        Dialect::Dspy => python_strip(&list),
    }
    .to_owned()
}

/// A field's description; empty for none.
pub(crate) fn given_description(field: &FieldSpec) -> &str {
    // DSPy gives an undescribed field the description `${name}`; written out it means the same.
    let given = field.description.as_deref().unwrap_or("");
    match given.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')) {
        Some(name) if name == field.name => "",
        _ => given,
    }
}

fn description(list: &mut String, field: &FieldSpec, answer_shapes: bool) {
    let given = given_description(field);
    list.push_str(given);
    if let Some(shape) = field.answer_shape.filter(|_| answer_shapes) {
        if !given.is_empty() {
            list.push(' ');
        }
        list.push_str(match shape {
            AnswerShape::YesNo => "Must be exactly yes or no.",
            AnswerShape::NumericSpan => "Must be only the numeric answer span, with no words or explanation.",
            AnswerShape::ShortSpan => {
                "Must be a concise exact answer span; preserve complete names, titles, locations, dates, and \
                 quantities when the task asks for them, and do not add aliases, abbreviations, conversions, \
                 or parentheticals unless explicitly requested."
            }
        });
    }
}

fn code_description(list: &mut String, language: &str) {
    let _ = write!(
        list,
        "Code represented in a string, specified in the `code` field. If this is an output field, the code \
         field should follow the markdown code block format, e.g. \n```{}\n{{code}}\n```\nProgramming \
         language: {language}",
        language.to_lowercase(),
    );
}

/// One line for each documented member of an enum.
fn members(list: &mut String, tree: &TypeTree) {
    let Some(choice) = choice_of(tree, &tree.root) else { return };
    for member in &choice.members {
        if let Some(description) = &member.description {
            let description: Vec<&str> = description.split_whitespace().collect();
            let _ = write!(list, "\n    - `{}`: {}", plain_member(&member.value), description.join(" "));
        }
    }
}

/// The enum that the type, its items or its values are.
fn choice_of<'t>(tree: &'t TypeTree, ty: &'t Type) -> Option<&'t Choice> {
    match &tree.present(ty).kind {
        Kind::Choice(choice) => Some(choice),
        Kind::List { items: Some(inner), .. } | Kind::Map { values: Some(inner), .. } => match inner.kind {
            // A type that contains itself: its members stand in the note.
            Kind::Ref(_) => None,
            _ => choice_of(tree, inner),
        },
        _ => None,
    }
}

/// What DSPy says of its own types, wherever they occur outside objects.
fn type_descriptions(list: &mut String, tree: &TypeTree) {
    let mut open = vec![&tree.root];
    while let Some(ty) = open.pop() {
        match &ty.kind {
            Kind::ToolCalls => list.push_str(
                "\n    Type description of ToolCalls: Tool calls must be a JSON object with `tool_calls`, a \
                 list of calls. Each call must include `name` and `args`. Example: {\"tool_calls\": \
                 [{\"name\": \"search\", \"args\": {\"query\": \"cats\"}}]}",
            ),
            Kind::Code { language } => {
                let _ = write!(list, "\n    Type description of {}: ", python_name(tree, ty));
                code_description(list, language);
            }
            Kind::List { items: Some(inner), .. } | Kind::Map { values: Some(inner), .. } => open.push(inner),
            Kind::Union { branches: inner, .. } | Kind::Tuple(inner) => open.extend(inner.iter().rev()),
            _ => {}
        }
    }
}

/// The plain dialect's order of bounds, and the words of both.
const WORDS: [(Constraint, &str); 8] = [
    (Constraint::Gt, "greater than: "),
    (Constraint::Ge, "greater than or equal to: "),
    (Constraint::Lt, "less than: "),
    (Constraint::Le, "less than or equal to: "),
    (Constraint::MinLength, "minimum length: "),
    (Constraint::MaxLength, "maximum length: "),
    (Constraint::MultipleOf, "a multiple of the given number: "),
    (Constraint::AllowInfNan, "allow 'inf', '-inf', 'nan' values: "),
];

fn constraints(list: &mut String, field: &FieldSpec, dialect: Dialect) {
    let words = |constraint: Constraint| WORDS.iter().find(|(known, _)| *known == constraint);
    let parts: Vec<String> = match dialect {
        Dialect::Plain => WORDS
            .iter()
            .flat_map(|(known, words)| {
                let given = field.constraints.iter().filter(move |(given, _)| given == known);
                given.map(move |(_, value)| format!("{words}{}", plain_value(value)))
            })
            .collect(),
        Dialect::Dspy => field
            .constraints
            .iter()
            .filter_map(|(given, value)| {
                let (_, words) = words(*given)?;
                Some(format!("{words}{}", python_str(value)))
            })
            .collect(),
    };
    if !parts.is_empty() {
        let _ = write!(list, "\nConstraints: {}", parts.join(", "));
    }
}

fn plain_value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Float(value) => python_float(*value),
        value => {
            let mut text = String::new();
            write_json(&mut text, value);
            text
        }
    }
}
