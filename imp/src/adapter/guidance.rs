//! What a tool loop says of itself, from which the adapter writes the words (Imp §7.4).

use std::fmt::Write as _;
use std::sync::Arc;

use crate::adapter::field_list::field_list;
use crate::adapter::options::AgentLine;
use crate::dialect::Dialect;
use crate::spec::{FieldSpec, SignatureSpec};

/// A tool loop, as its prompts describe it.
///
/// The loop says what it is and the adapter writes the words: the same loop reads differently under
/// [`Chat`](crate::Chat) and under [`Json`](crate::Json), whose replies differ.
///
/// ```
/// use imp::{FormatOptions, Guidance, SignatureSpec};
///
/// let task = SignatureSpec::parse("intent -> answer, confidence: float")?;
/// let guidance = Guidance::of(&task).submit("submit").tools(["submit", "look"]);
/// assert_eq!(guidance.submit_tool(), Some("submit"));
/// assert_eq!(guidance.tool_names().collect::<Vec<_>>(), ["look", "submit"]);
/// assert_eq!(guidance.output_names().collect::<Vec<_>>(), ["answer", "confidence"]);
///
/// let options = FormatOptions::new().guidance(guidance).response_instruction(false);
/// # let _ = options;
/// # Ok::<(), imp::SpecError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Guidance {
    pub(crate) submit: Option<String>,
    pub(crate) finish_tools: Vec<String>,
    pub(crate) inputs: Vec<String>,
    pub(crate) outputs: Vec<Arc<FieldSpec>>,
    /// Sorted.
    pub(crate) tools: Vec<String>,
    /// The output in which calls are written, where the model cannot call tools.
    pub(crate) written: Option<String>,
    pub(crate) layout: LoopLayout,
}

/// How the system message of a loop that ends with `submit` is laid out, where the provider holds the tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum LoopLayout {
    /// Plain paragraphs, without the scaffold of markers that such a loop does not use (Imp §15). The default.
    #[default]
    Plain,
    /// The layout before it, DSPy's: the template of an ordinary call and the guidance in its objective.
    Marked,
}

impl Guidance {
    /// A loop for the task that a signature describes: its inputs, but for histories, and its outputs. The
    /// loop has no `submit` and no tools yet, and the model calls tools natively.
    pub fn of(task: &SignatureSpec) -> Self {
        let inputs = task.inputs.iter().filter(|field| !field.is_history());
        Guidance {
            submit: None,
            finish_tools: Vec::new(),
            inputs: inputs.map(|field| field.name.clone()).collect(),
            outputs: task.outputs.clone(),
            tools: Vec::new(),
            written: None,
            layout: LoopLayout::Plain,
        }
    }

    /// The loop ends when the model calls this tool with the outputs. By default it ends with a text.
    pub fn submit(mut self, tool: impl Into<String>) -> Self {
        self.submit = Some(tool.into());
        self
    }

    /// The loop has no `submit` and ends when the model calls one of these tools. The default is none.
    pub fn finish_tools<S: Into<String>>(mut self, tools: impl IntoIterator<Item = S>) -> Self {
        self.finish_tools = tools.into_iter().map(Into::into).collect();
        self
    }

    /// The tools, `submit` among them; they are named in the order of their names. The default is none.
    pub fn tools<S: Into<String>>(mut self, tools: impl IntoIterator<Item = S>) -> Self {
        self.tools = tools.into_iter().map(Into::into).collect();
        self.tools.sort();
        self
    }

    /// The model writes its calls as text, in the output of this name. By default it calls tools natively.
    pub fn written_calls(mut self, output: impl Into<String>) -> Self {
        self.written = Some(output.into());
        self
    }

    /// Another layout of the system message. The default is [`LoopLayout::Plain`].
    pub fn layout(mut self, layout: LoopLayout) -> Self {
        self.layout = layout;
        self
    }

    /// The tool that ends the loop with the outputs, if there is one.
    pub fn submit_tool(&self) -> Option<&str> {
        self.submit.as_deref()
    }

    /// The tools of which any ends the loop.
    pub fn finish_tool_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.finish_tools.iter().map(String::as_str)
    }

    /// The names of the task's inputs, without histories.
    pub fn input_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.inputs.iter().map(String::as_str)
    }

    /// The names of the task's outputs.
    pub fn output_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.outputs.iter().map(|field| field.name.as_str())
    }

    /// The task's outputs.
    pub fn outputs(&self) -> impl ExactSizeIterator<Item = &FieldSpec> {
        self.outputs.iter().map(|field| &**field)
    }

    /// The names of the tools, sorted.
    pub fn tool_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.tools.iter().map(String::as_str)
    }

    /// Whether the model calls tools natively.
    pub fn calls_are_native(&self) -> bool {
        self.written.is_none()
    }

    /// Whether the loop ends with a message that calls no tool, where the provider holds the tools.
    pub(crate) fn is_native_text_loop(&self) -> bool {
        self.ends_with_text() && self.calls_are_native()
    }

    /// Whether the system message is plain paragraphs (Imp §15), under the Chat adapter.
    pub(crate) fn is_plain_loop(&self) -> bool {
        self.submit.is_some()
            && self.finish_tools.is_empty()
            && self.calls_are_native()
            && self.layout == LoopLayout::Plain
    }

    /// Whether the loop ends with a text, the task's one output.
    pub(crate) fn ends_with_text(&self) -> bool {
        self.submit.is_none() && self.finish_tools.is_empty()
    }

    /// The lines that stand behind the instructions. `says` tells whether the answer is a plain message, which
    /// it is under the Chat adapter only.
    pub(crate) fn lines(&self, agent_line: &AgentLine, dialect: Dialect, says: bool) -> String {
        let inputs = backticked(self.input_names());
        let outputs = backticked(self.output_names());
        let mut lines = Vec::new();
        match agent_line {
            AgentLine::Text(text) => lines.push(text.clone()),
            AgentLine::None => {}
            AgentLine::Default if self.ends_with_text() => lines.push(format!(
                "You are an Agent. Produce {outputs} from {inputs}, using the supplied tools to gather \
                 information and take actions."
            )),
            AgentLine::Default => lines.push(format!(
                "You are an Agent. Use the supplied tools to produce {outputs} from {inputs}."
            )),
        }
        if !self.outputs.is_empty() {
            lines.push("The outputs to produce are:".to_owned());
            lines.push(field_list(&self.outputs, dialect, true));
        }
        lines.push("Call tools when more information is needed.".to_owned());
        lines.push(match (&self.submit, &self.written) {
            (Some(submit), _) => format!("When the final answer is ready, call `{submit}` with {outputs}."),
            (None, _) if !self.finish_tools.is_empty() => {
                format!("The task ends when you call one of: {}.", backticked(self.finish_tool_names()))
            }
            (None, Some(calls)) => {
                format!("When the final answer is ready, write it in {outputs}, and leave `{calls}` empty.")
            }
            (None, None) if says => format!(
                "When the final answer is ready, reply without calling a tool: that message is {outputs}."
            ),
            (None, None) => format!("When the final answer is ready, write it in {outputs}."),
        });
        lines.push(format!("The available tools are: {}.", backticked(self.tool_names())));
        lines.join("\n")
    }
}

/// Names in backticks, a comma apart.
pub(crate) fn backticked<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut out = String::new();
    for (at, name) in names.enumerate() {
        let _ = write!(out, "{}`{name}`", if at > 0 { ", " } else { "" });
    }
    out
}
