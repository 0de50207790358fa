//! Tools as a prompt lists them, for a model that cannot call them (Imp §14.3).

use crate::tool_definition;
use crate::types::{Kind, TypeTree};
use crate::value::Value;

/// A tool, or a list of them, as texts; `None` if the type is neither or the value is no tool.
pub(super) fn listed(tree: &TypeTree, value: &Value) -> Option<Value> {
    let ty = tree.present(&tree.root);
    match (&ty.kind, value) {
        (Kind::List { .. }, Value::List(tools)) if tree.is_tools() => {
            let one = |tool: &Value| tool_definition::shown(tool).unwrap_or_else(|| tool.clone());
            Some(Value::List(tools.iter().map(one).collect()))
        }
        _ if ty.is_tool() => tool_definition::shown(value),
        _ => None,
    }
}
