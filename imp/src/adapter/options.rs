//! What a caller can say about the messages.

use std::marker::PhantomData;
use std::sync::Arc;

use crate::adapter::demo::Demo;
use crate::adapter::guidance::Guidance;
use crate::adapter::renderer::{
    NoteContext, OutputContext, Renderers, SectionContext, SystemContext, ToolResultContext,
};
use crate::message::Content;

/// How a request is made from values (Imp §6).
///
/// ```
/// use imp::{Demo, Fields, FormatOptions};
///
/// let demo = Demo::from_fields(Fields::from([("question", "2 + 2?"), ("answer", "4")]));
/// let options = FormatOptions::new().demo(demo).response_instruction(false);
/// # let _ = options;
/// ```
///
/// # Renderers
///
/// A renderer writes a part of the prompt in the adapter's place. Its context has what the adapter would have
/// written, so that a renderer can add to it; as a program's fallback formats with another adapter, what it
/// adds to is then that adapter's. Fields are named by the handles of the signature: a handle of another one
/// does not compile.
///
/// ```
/// use imp::{Chat, Demo, FormatOptions, Json, Signature};
///
/// #[derive(Signature)]
/// #[signature(output = Answer)]
/// struct Question {
///     question: String,
/// }
///
/// #[derive(Debug, Signature)]
/// struct Answer {
///     answer: String,
/// }
///
/// let demo = Demo::new(Question { question: "2 + 2?".into() }, Answer { answer: "4".into() });
/// let options = FormatOptions::new()
///     .demo(demo)
///     .system_renderer::<Question>(|system| format!("Be brief.\n{}", system.default_system()))
///     .output_renderer::<Question>(|said| match said.value(Answer::FIELDS.answer) {
///         Some(answer) if answer == "4".into() => "FOUR".to_owned(),
///         _ => said.default_outputs(),
///     });
/// let question = Question { question: "3 + 3?".into() };
/// let messages = Chat::new().format_with(&question, &options)?;
/// assert!(messages[0].text().starts_with("Be brief.\nYour input fields are:\n"));
/// assert_eq!(messages[2].text(), "FOUR");
/// let messages = Json::new().format_with(&question, &options)?;
/// assert!(messages[0].text().contains("Outputs will be a JSON object"));
/// # Ok::<(), imp::FormatError>(())
/// ```
#[derive(Debug, Clone)]
pub struct FormatOptions {
    pub(crate) demos: Vec<Demo>,
    pub(crate) response_instruction: bool,
    pub(crate) omit_empty_request: bool,
    pub(crate) guidance: Option<Arc<Guidance>>,
    pub(crate) agent_line: AgentLine,
    pub(crate) renderers: Renderers,
    pub(crate) history_reminder: bool,
    pub(crate) native_tool_calls: Option<bool>,
    pub(crate) user_name: Option<String>,
    pub(crate) assistant_name: Option<String>,
}

impl Default for FormatOptions {
    fn default() -> Self {
        FormatOptions {
            demos: Vec::new(),
            response_instruction: true,
            omit_empty_request: false,
            guidance: None,
            agent_line: AgentLine::Default,
            renderers: Renderers::default(),
            history_reminder: false,
            native_tool_calls: None,
            user_name: None,
            assistant_name: None,
        }
    }
}

impl FormatOptions {
    /// No demos, and a sentence at the end of the request that says how to answer.
    pub fn new() -> Self {
        FormatOptions::default()
    }

    /// One more demo.
    pub fn demo(mut self, demo: Demo) -> Self {
        self.demos.push(demo);
        self
    }

    /// More demos.
    pub fn demos(mut self, demos: impl IntoIterator<Item = Demo>) -> Self {
        self.demos.extend(demos);
        self
    }

    /// Whether the request ends with the sentence that says how to answer. The default is yes.
    pub fn response_instruction(mut self, yes: bool) -> Self {
        self.response_instruction = yes;
        self
    }

    /// Whether a request that would be blank is left out. The default is no.
    pub fn omit_empty_request(mut self, yes: bool) -> Self {
        self.omit_empty_request = yes;
        self
    }

    /// The request is a step of a tool loop, and the system message says so (Imp §7.4). By default it is none.
    pub fn guidance(mut self, guidance: Guidance) -> Self {
        self.guidance = Some(Arc::new(guidance));
        self
    }

    /// What a tool loop's system message calls the model. The default is DSPy's line, `You are an Agent. …`;
    /// in the plain layout there is none by default.
    ///
    /// ```
    /// use imp::{AgentLine, FormatOptions};
    ///
    /// let options = FormatOptions::new().agent_line("You look after the harbour.");
    /// let options = options.agent_line(AgentLine::None);
    /// # let _ = options;
    /// ```
    pub fn agent_line(mut self, line: impl Into<AgentLine>) -> Self {
        self.agent_line = line.into();
        self
    }

    /// Writes the system message. Replies are read as before.
    ///
    /// See [renderers](Self#renderers).
    pub fn system_renderer<I: ?Sized>(
        mut self,
        render: impl Fn(&SystemContext<'_, I>) -> String + Send + Sync + 'static,
    ) -> Self {
        self.renderers.system = Some(Arc::new(move |context| {
            let &SystemContext { spec, guidance, default, of: _ } = context;
            render(&SystemContext { spec, guidance, default, of: PhantomData })
        }));
        self
    }

    /// Writes the assistant's side of demos and of stored turns, whatever the adapter. A stored turn that is
    /// plain text anyway, as in a loop that ends with a text, is not given to it.
    ///
    /// See [renderers](Self#renderers).
    pub fn output_renderer<I: ?Sized>(
        mut self,
        render: impl Fn(&OutputContext<'_, I>) -> String + Send + Sync + 'static,
    ) -> Self {
        self.renderers.output = Some(Arc::new(move |context| {
            let &OutputContext { spec, outputs, missing, default, fault, of: _ } = context;
            render(&OutputContext { spec, outputs, missing, default, fault, of: PhantomData })
        }));
        self
    }

    /// Writes one input's section, in the request, in demos and in stored turns; an empty text leaves it out.
    /// An input with an image, an audio or a file keeps the adapter's.
    ///
    /// See [renderers](Self#renderers).
    pub fn input_section_renderer<I: ?Sized>(
        mut self,
        render: impl Fn(&SectionContext<'_, I>) -> String + Send + Sync + 'static,
    ) -> Self {
        self.renderers.section = Some(Arc::new(move |context| {
            let &SectionContext { field, value, default, of: _ } = context;
            render(&SectionContext { field, value, default, of: PhantomData })
        }));
        self
    }

    /// Writes what the model sees of a tool's result, or of its error; the history keeps the whole. The text
    /// is escaped as any other.
    ///
    /// ```
    /// use imp::{Content, FormatOptions};
    ///
    /// let options = FormatOptions::new().tool_result_renderer(|result| match result.default_result() {
    ///     Content::Text(text) => text.chars().take(10_000).collect::<String>().into(),
    ///     parts => parts,
    /// });
    /// # let _ = options;
    /// ```
    pub fn tool_result_renderer(
        mut self,
        render: impl Fn(&ToolResultContext<'_>) -> Content + Send + Sync + 'static,
    ) -> Self {
        self.renderers.tool_result = Some(Arc::new(render));
        self
    }

    /// Says something about a stored turn: a text becomes one user message behind it, and no record changes.
    /// `None` and the empty text add nothing. By default nothing is said.
    ///
    /// See [renderers](Self#renderers).
    pub fn history_note_renderer<I: ?Sized>(
        mut self,
        render: impl Fn(&NoteContext<'_, I>) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.renderers.note = Some(Arc::new(move |context| {
            let &NoteContext { spec, turn, of: _ } = context;
            render(&NoteContext { spec, turn, of: PhantomData })
        }));
        self
    }

    /// Whether the sentence that says how to answer stands in stored turns too, as it does in DSPy 3.4.1. The
    /// default is no, as in DSPy 3.4.0 and in Imp.
    pub fn history_reminder(mut self, yes: bool) -> Self {
        self.history_reminder = yes;
        self
    }

    /// Whether tool calls of stored turns are sent as the provider's own tool calls. By default they are
    /// unless the signature has an output that holds tool calls.
    pub fn native_tool_calls(mut self, yes: bool) -> Self {
        self.native_tool_calls = Some(yes);
        self
    }

    /// The participant's name on the request's user message. It is passed through as given; an empty one names
    /// nothing. See [`name`](crate::name) for who accepts it.
    pub fn user_name(mut self, name: impl Into<String>) -> Self {
        self.user_name = Some(name.into());
        self
    }

    /// The participant's name on the assistant's message of a training example. See [`name`](crate::name).
    pub fn assistant_name(mut self, name: impl Into<String>) -> Self {
        self.assistant_name = Some(name.into());
        self
    }
}

/// The line of a tool loop's system message that says what the model is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum AgentLine {
    /// DSPy's line, or none in the plain layout. This is the default.
    #[default]
    Default,
    /// This line.
    Text(String),
    /// No line.
    None,
}

impl From<&str> for AgentLine {
    fn from(line: &str) -> Self {
        AgentLine::Text(line.to_owned())
    }
}

impl From<String> for AgentLine {
    fn from(line: String) -> Self {
        AgentLine::Text(line)
    }
}

/// What stands for an output without a value in an assistant's message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing<'a> {
    /// Nothing: the section is left out.
    LeaveOut,
    /// A text.
    Say(&'a str),
}

/// What form an adapter asks the provider to hold the reply to.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum OutputForm {
    /// Text, in the adapter's own format.
    Text,
    /// Any JSON object.
    Object,
    /// A JSON object that fits a schema, which keeps to the rules of OpenAI's strict mode; any JSON object
    /// from a provider that knows no schemas.
    Schema(serde_json::Value),
    /// The same, but text from a provider that knows no schemas: for a prompt that asks for no JSON.
    SchemaOrText(serde_json::Value),
}
