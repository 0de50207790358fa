//! Tools as a prompt lists them, for a model that cannot call them (Imp §14.3).

use super::python::push_repr;
use crate::dialect::Dialect;
use crate::tool_definition::{self, ToolDefinition};
use crate::types::{Kind, TypeTree};
use crate::value::{Map, Value};

/// A tool, or a list of them, as texts; `None` if the type is neither or the value is no tool.
pub(super) fn listed(tree: &TypeTree, value: &Value, dialect: Dialect) -> Option<Value> {
    let ty = tree.present(&tree.root);
    match (&ty.kind, value) {
        (Kind::List { .. }, Value::List(tools)) if tree.is_tools() => {
            let one = |tool: &Value| listing(tool, dialect).map_or_else(|| tool.clone(), Value::from);
            Some(Value::List(tools.iter().map(one).collect()))
        }
        _ if ty.is_tool() => listing(value, dialect).map(Value::from),
        _ => None,
    }
}

fn listing(tool: &Value, dialect: Dialect) -> Option<String> {
    let definition = tool_definition::read(tool)?;
    Some(match dialect {
        Dialect::Plain => definition.listing(),
        Dialect::Dspy => definition.listing_with(&python_arguments(&definition)),
    })
}

/// DSPy shows the parameters alone, as Python shows a dictionary.
fn python_arguments(definition: &ToolDefinition) -> String {
    let properties = definition.parameters().get("properties").cloned();
    let properties = properties.map_or_else(|| Value::Map(Map::new()), Value::from);
    let mut arguments = String::new();
    push_repr(&mut arguments, &properties, 0);
    arguments
}
