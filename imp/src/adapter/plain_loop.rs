//! The Chat adapter's system messages of loops in which the provider holds the tools.

use std::fmt::Write as _;

use crate::adapter::Adapter;
use crate::adapter::assembly::instructions;
use crate::adapter::field_list::field_list;
use crate::adapter::guidance::{Guidance, backticked};
use crate::adapter::instructions::plain_text;
use crate::adapter::messages::guided;
use crate::adapter::options::AgentLine;
use crate::dialect::Dialect;
use crate::spec::SignatureSpec;
use crate::text::scan::trim;

/// What stands between the instructions and an agent line in the plain layout.
const AGENT_LINE_SEPARATOR: &str = "\n";

/// Plain paragraphs, for a loop that ends with `submit` (Imp §15).
pub(crate) fn submit_loop(
    spec: &SignatureSpec,
    guidance: &Guidance,
    submit: &str,
    agent_line: &AgentLine,
    dialect: Dialect,
) -> String {
    let mut paragraphs = Vec::new();
    let mut first = plain_text(&instructions(spec, dialect));
    if let AgentLine::Text(line) = agent_line {
        if !first.is_empty() {
            first.push_str(AGENT_LINE_SEPARATOR);
        }
        first.push_str(line);
    }
    if !first.is_empty() {
        paragraphs.push(first);
    }
    if let Some(input) = spec.inputs.first() {
        paragraphs.push(format!(
            "Each message to you has these parts, each under its heading, such as [[ ## {} ## ]]. A part that \
             doesn't apply to a message is left out.\n{}",
            input.name,
            field_list(&spec.inputs, dialect, true),
        ));
    }
    paragraphs.push(
        "Use the tools to read and to act, as many times as you need. Text you write is not sent. It stays in \
         this conversation as your own note."
            .to_owned(),
    );
    paragraphs.push(format!(
        "To finish, call `{submit}` with {}:\n{}",
        enumerated(&guidance.output_names().collect::<Vec<_>>()),
        field_list(&guidance.outputs, dialect, true),
    ));
    paragraphs.push(format!("The tools you have: {}.", backticked(guidance.tool_names())));
    paragraphs.join("\n\n")
}

/// Names in backticks, the last one behind `and`.
fn enumerated(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [name] => format!("`{name}`"),
        [names @ .., last] => format!("{} and `{last}`", backticked(names.iter().copied())),
    }
}

/// The layout of a loop that ends with a message: the inputs are structured, the answer is not (Imp §7.5 a).
pub(crate) fn text_loop<A: Adapter + ?Sized>(
    adapter: &A,
    spec: &SignatureSpec,
    guidance: &Guidance,
    agent_line: &AgentLine,
) -> String {
    let dialect = adapter.dialect();
    let lines = guidance.lines(agent_line, dialect, true);
    let mut out = adapter.field_description(spec);
    if !spec.inputs.is_empty() {
        out.push_str(
            "\nInputs will be structured in the following way, with the appropriate values filled in.\n",
        );
    }
    for field in &spec.inputs {
        let _ = write!(out, "\n[[ ## {0} ## ]]\n{{{0}}}\n", field.name);
    }
    out.push('\n');
    out.push_str(&adapter.task_description(&guided(spec, dialect, &lines)));
    trim(&out).to_owned()
}
