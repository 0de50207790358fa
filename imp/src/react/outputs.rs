//! The outputs of a loop, read as any reply's are.

use crate::adapter::chat::Chat;
use crate::adapter::complete::complete;
use crate::adapter::record::{FieldReader, Outputs, Section};
use crate::adapter::typed::fields_as_sections;
use crate::dialect::Dialect;
use crate::error::ParseError;
use crate::fields::Fields;
use crate::spec::SignatureSpec;
use crate::text::read::ReadOptions;
use crate::tool_failure::ToolFailure;
use crate::value::{Map, Value};

/// The outputs that the arguments of a submit are; all must be there.
pub(super) fn submitted<O: Outputs>(
    task: &SignatureSpec,
    dialect: Dialect,
    arguments: &Map,
) -> Result<O, ToolFailure> {
    let is_given = |name: &str| arguments.contains_key(name);
    let missing = task
        .outputs
        .iter()
        .filter(|field| !is_given(&field.name) && !field.aliases.iter().any(|alias| is_given(alias)));
    let names: Vec<String> = missing.map(|field| field.name.clone()).collect();
    if !names.is_empty() {
        return Err(ToolFailure::MissingOutputs { names });
    }
    valid(task, dialect, arguments.clone())
}

/// The outputs that some values are.
pub(super) fn valid<O: Outputs>(
    task: &SignatureSpec,
    dialect: Dialect,
    values: Map,
) -> Result<O, ToolFailure> {
    let sections = fields_as_sections(task, &values.into());
    read(task, dialect, &sections)
        .map_err(|error| ToolFailure::InvalidOutputs { reason: error.to_string().into() })
}

/// The outputs that what a finishing tool returned is: an object of them, or the value of the only one.
pub(super) fn returned<O: Outputs>(
    task: &SignatureSpec,
    dialect: Dialect,
    value: &Value,
) -> Result<O, ToolFailure> {
    match (value, task.outputs.as_slice()) {
        (Value::Map(map), _) if task.outputs.iter().any(|field| map.contains_key(&field.name)) => {
            submitted(task, dialect, map)
        }
        (value, [only]) => valid(task, dialect, Map::from([(only.name.as_str(), value.clone())])),
        _ => Err(ToolFailure::MissingOutputs {
            names: task.outputs.iter().map(|field| field.name.clone()).collect(),
        }),
    }
}

/// The outputs that a text is; nothing said is null, or the empty text where null is no value.
pub(super) fn text<O: Outputs>(
    task: &SignatureSpec,
    dialect: Dialect,
    field: &str,
    text: Option<&str>,
) -> Result<O, ParseError> {
    let value = |value: Value| fields_as_sections(task, &Fields::from([(field, value)]));
    match text {
        Some(text) => read(task, dialect, &value(text.into())),
        None => read(task, dialect, &value(Value::Null)).or_else(|_| read(task, dialect, &value("".into()))),
    }
}

fn read<O: Outputs>(
    task: &SignatureSpec,
    dialect: Dialect,
    sections: &[Section<'_>],
) -> Result<O, ParseError> {
    // Nothing of it was escaped.
    let options = ReadOptions { dialect, unescape: false };
    let mut reader = FieldReader::new(task, sections, options);
    match O::read(&mut reader) {
        Some(outputs) => Ok(outputs),
        None => complete(&Chat::new().dialect(dialect), task, "", sections),
    }
}
