//! The program that lets a model call tools until it has the outputs (Imp's `ReActV2`).

mod act;
mod ask;
pub(crate) mod call;
pub(crate) mod event;
mod last;
mod outputs;
mod overflow;
mod plan;
pub(crate) mod prediction;
mod run;

use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

use crate::adapter::Adapter;
use crate::adapter::demo::Demo;
use crate::adapter::guidance::LoopLayout;
use crate::adapter::options::FormatOptions;
use crate::adapter::record::{Inputs, Signature};
use crate::adapter::turn::captured_outputs;
use crate::error::{FormatError, SpecError};
use crate::fields::Fields;
use crate::lm::{Config, LanguageModel};
use crate::spec::SignatureSpec;
use crate::tool::{Tool, ToolPolicy};
use crate::value::{Map, Value};

use call::ReActCall;
use event::{Event, Observer};
use plan::Plan;

/// How many steps a loop has by default.
const MAX_ITERS: usize = 20;

/// A loop in which the model calls tools until it has the outputs of a signature.
///
/// Each step is a request: the conversation so far, with every call and its result. A signature whose one output
/// is a text without bounds ends with a reply that calls no tool: that text is the output. Any other ends when the
/// model calls `submit`, a tool whose parameters are the outputs, all of them required and described by the output
/// struct. A model that cannot call tools (by its [`Capabilities`](crate::Capabilities)) writes its calls in the
/// reply.
///
/// ```
/// use imp::{Map, ReAct, Script, Signature, Termination, Tool, ToolCall};
/// use imp::lm::ScriptReply;
///
/// /// Answer the customer.
/// #[derive(Signature)]
/// #[signature(output = Reply)]
/// struct Ticket {
///     ticket: String,
/// }
///
/// #[derive(Debug, Signature)]
/// struct Reply {
///     reply: String,
///     #[field(min = 1, max = 4)]
///     priority: u8,
/// }
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let on_call = Tool::new("on_call", "Who is on call.", |(): ()| async { "Ada" });
/// let submit = Map::from([("reply", "Ada is on it.".into()), ("priority", imp::Value::from(1))]);
/// let model = Script::new([
///     ScriptReply::from(ToolCall::new("c1", "on_call", Map::new())),
///     ScriptReply::from(ToolCall::new("c2", "submit", submit)),
/// ]);
/// let agent = ReAct::<Ticket>::new(model, [on_call]);
/// let done = agent.call(&Ticket { ticket: "Nothing works!".into() }).user_name("alice").await?;
/// assert_eq!(done.termination(), Termination::Submitted);
/// let reply = done.outputs().ok_or("incomplete")?;
/// assert_eq!((&*reply.reply, reply.priority), ("Ada is on it.", 1));
/// // The next call goes on from here.
/// let thanks = Ticket { ticket: "Thanks!".into() };
/// let again = agent.call(&thanks).history(done.history().clone());
/// # let _ = again;
/// # Ok(())
/// # }
/// # let mut run = std::pin::pin!(run());
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # assert!(matches!(run.as_mut().poll(&mut context), std::task::Poll::Ready(Ok(()))));
/// ```
///
/// # What never ends a loop
///
/// A tool that fails, panics or is not allowed, a call that cannot be read, arguments that do not fit: each is a result
/// that the model reads. What does end it early is told by [`ReActPrediction::cause`](crate::ReActPrediction::cause);
/// one more request then asks for the outputs ([`last_request_note`](Self::last_request_note)).
///
/// # Caches
///
/// Each request's messages are those of the one before and the newest exchange, byte for byte, so that the provider's
/// cache holds. Where the format ends every request with a sentence or a list of tools (with
/// [`Json`](crate::Json), [`Xml`](crate::Xml) and written calls), this holds for all that stands before that.
pub struct ReAct<I> {
    core: Core,
    // A function's result: covariant, so that a `ReAct<Ticket<'static>>` takes a short-lived `&Ticket`.
    inputs: PhantomData<fn() -> I>,
}

/// Whether a call of a tool ends the loop; see [`ReAct::finish_on`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finish<O> {
    /// The loop goes on.
    Continue,
    /// The loop ends with these outputs.
    With(O),
}

/// Says of a successful call whether it ends the loop, and with which outputs.
type Finisher =
    Arc<dyn Fn(&SignatureSpec, &Map, &Value, &Fields) -> Result<Option<Map>, FormatError> + Send + Sync>;

/// What a loop is made of. It knows no Rust type.
#[derive(Clone)]
pub(crate) struct Core {
    /// An error waits here for the first call, so that making a program needs no `?`.
    task: Result<Arc<SignatureSpec>, SpecError>,
    lm: Arc<dyn LanguageModel>,
    adapter: Arc<dyn Adapter>,
    fallback: bool,
    options: FormatOptions,
    config: Config,
    salvage: bool,
    tools: Vec<Tool>,
    policy: ToolPolicy,
    finishers: Vec<(String, Finisher)>,
    finish_tools: Vec<String>,
    max_iters: usize,
    note: Option<String>,
    assistant_name: Option<String>,
    layout: LoopLayout,
    force_calls: bool,
    observers: Vec<Observer>,
    /// Made at the first call.
    plan: OnceLock<Result<Arc<Plan>, SpecError>>,
}

impl Core {
    fn new(
        task: Result<Arc<SignatureSpec>, SpecError>,
        lm: Arc<dyn LanguageModel>,
        tools: Vec<Tool>,
    ) -> Self {
        Core {
            adapter: plan::default_adapter(task.as_ref()),
            task,
            lm,
            fallback: true,
            options: FormatOptions::new(),
            config: Config::new(),
            salvage: true,
            tools,
            policy: ToolPolicy::allow(),
            finishers: Vec::new(),
            finish_tools: Vec::new(),
            max_iters: MAX_ITERS,
            note: None,
            assistant_name: None,
            layout: LoopLayout::Plain,
            force_calls: false,
            observers: Vec::new(),
            plan: OnceLock::new(),
        }
    }

    fn plan(&self) -> Result<&Arc<Plan>, SpecError> {
        self.plan.get_or_init(|| Plan::new(self).map(Arc::new)).as_ref().map_err(Clone::clone)
    }
}

impl<I> Clone for ReAct<I> {
    fn clone(&self) -> Self {
        ReAct { core: self.core.clone(), inputs: PhantomData }
    }
}

impl<I> fmt::Debug for ReAct<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReAct")
            .field("task", &self.core.task)
            .field("model", &self.core.lm.model())
            .field("adapter", &self.core.adapter)
            .field("tools", &self.core.tools)
            .field("policy", &self.core.policy)
            .field("max_iters", &self.core.max_iters)
            .finish_non_exhaustive()
    }
}

// The bounds stand on the methods: a struct without `output = …` then gets the trait's own words.
impl<I> ReAct<I> {
    /// A loop for the outputs of `I`, with these tools and the Chat adapter.
    ///
    /// What is wrong with the signature or the tools is said by [`check`](Self::check) and by the first call.
    pub fn new(lm: impl LanguageModel + 'static, tools: impl IntoIterator<Item = Tool>) -> Self
    where
        I: Signature,
    {
        let task = I::spec().map(Arc::clone).map_err(Clone::clone);
        ReAct { core: Core::new(task, Arc::new(lm), tools.into_iter().collect()), inputs: PhantomData }
    }
}

impl ReAct<Fields> {
    /// A loop for a signature that is described at run time.
    ///
    /// ```
    /// use imp::{Fields, ReAct, Script, SignatureSpec, Tool};
    ///
    /// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
    /// let look = Tool::new("look", "Look around.", |(): ()| async { "a lamp" });
    /// let agent = ReAct::from_spec(SignatureSpec::parse("intent -> answer")?, Script::new(["Done."]), [look]);
    /// let done = agent.call(&Fields::from([("intent", "Light the lamp.")])).await?;
    /// assert_eq!(done.outputs().and_then(|outputs| outputs.get("answer")), Some(&"Done.".into()));
    /// # Ok(())
    /// # }
    /// # let mut run = std::pin::pin!(run());
    /// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    /// # assert!(matches!(run.as_mut().poll(&mut context), std::task::Poll::Ready(Ok(()))));
    /// ```
    pub fn from_spec(
        spec: impl Into<Arc<SignatureSpec>>,
        lm: impl LanguageModel + 'static,
        tools: impl IntoIterator<Item = Tool>,
    ) -> Self {
        ReAct {
            core: Core::new(Ok(spec.into()), Arc::new(lm), tools.into_iter().collect()),
            inputs: PhantomData,
        }
    }
}

/// Settings.
impl<I: Inputs> ReAct<I> {
    fn changed(mut self, change: impl FnOnce(&mut Core)) -> Self {
        change(&mut self.core);
        self.core.plan = OnceLock::new();
        self
    }

    /// Whether the loop can run.
    ///
    /// # Errors
    ///
    /// The signature cannot be described or has a field `tools`; a tool cannot be offered to a model, is called as
    /// another or `submit`; a name of [`finish_on`](Self::finish_on) or
    /// [`finish_tools`](Self::finish_tools) is no tool's.
    pub fn check(&self) -> Result<(), SpecError> {
        self.core.plan().map(|_| ())
    }

    /// Another adapter. The default is [`Chat`](crate::Chat) in the signature's dialect.
    pub fn adapter(self, adapter: impl Adapter + 'static) -> Self {
        self.changed(|core| core.adapter = Arc::new(adapter))
    }

    /// Whether a step that cannot be read is asked for once more through the adapter's fallback, with the same
    /// renderers and guidance (Imp §13.7). The default is yes.
    pub fn fallback(self, yes: bool) -> Self {
        self.changed(|core| core.fallback = yes)
    }

    /// Whether a reply that is not exactly of the adapter's format is read leniently; see
    /// [`read_with`](crate::read_with). The default is yes.
    pub fn salvage(self, yes: bool) -> Self {
        self.changed(|core| core.salvage = yes)
    }

    /// Other instructions than the signature's.
    pub fn instructions(self, instructions: impl Into<String>) -> Self {
        let instructions = instructions.into();
        self.changed(|core| {
            if let Ok(task) = &core.task {
                core.task = Ok(Arc::new(SignatureSpec::clone(task).with_instructions(instructions)));
            }
        })
    }

    /// Settings of every request; what was set before stays where these leave it unset. The tool choice is the
    /// loop's own, and a step has one completion: `tool_choice` and `n` are refused by the call.
    pub fn config(self, config: Config) -> Self {
        self.changed(|core| core.config = config.or(std::mem::take(&mut core.config)))
    }

    /// How the prompts are made: demos, renderers, the agent line. The loop sets the guidance, leaves the sentence
    /// that says how to answer out and blank requests too. By default nothing is set.
    ///
    /// Demos that show calls are made from data: [`Demo::from_fields`] with `next_thought` and
    /// `tool_calls`.
    pub fn options(self, options: FormatOptions) -> Self {
        self.changed(|core| core.options = options)
    }

    /// One more demo.
    pub fn with_demo(self, demo: Demo) -> Self {
        self.changed(|core| core.options = std::mem::take(&mut core.options).demo(demo))
    }

    /// How the system message of a loop that ends with `submit` is laid out. The default is
    /// [`LoopLayout::Plain`].
    pub fn layout(self, layout: LoopLayout) -> Self {
        self.changed(|core| core.layout = layout)
    }

    /// Whether every step of a loop that ends by a tool must call one, which the provider then makes sure of: for a model that
    /// would rather talk. The default is no. A loop that ends with a text, and one whose calls are written, does not heed it.
    pub fn force_calls(self, yes: bool) -> Self {
        self.changed(|core| core.force_calls = yes)
    }

    /// Which calls may run, `submit` among them. The default is all.
    pub fn policy(self, policy: impl Into<ToolPolicy>) -> Self {
        let policy = policy.into();
        self.changed(|core| core.policy = policy)
    }

    /// How many steps there are at most; then one last request asks for the outputs. The default is 20; with 0
    /// there is only the last request.
    pub fn max_iters(self, steps: usize) -> Self {
        self.changed(|core| core.max_iters = steps)
    }

    /// What the model is told, as the first input's section, before the last request of an interrupted loop. By default
    /// nothing is said.
    pub fn last_request_note(self, note: impl Into<String>) -> Self {
        let note = note.into();
        self.changed(|core| core.note = Some(note))
    }

    /// The participant's name on the recorded answers of a loop that ends with a text. By default there is none. See
    /// [`name`](crate::name).
    pub fn assistant_name(self, name: impl Into<String>) -> Self {
        let name = name.into();
        self.changed(|core| core.assistant_name = Some(name))
    }

    /// Lets a successful call of a tool end the loop: the function is given the arguments, the result and the task's
    /// inputs by name, and returns the outputs or that the loop goes on. Outputs that break a bound are the call's
    /// error, which the model reads.
    ///
    /// ```
    /// use imp::{Finish, ReAct, Script, Signature, Tool};
    ///
    /// #[derive(Signature)]
    /// #[signature(output = Sent)]
    /// struct Mail {
    ///     text: String,
    /// }
    ///
    /// #[derive(Debug, Signature)]
    /// struct Sent {
    ///     id: String,
    ///     urgent: bool,
    /// }
    ///
    /// let send = Tool::new("send", "Send the mail.", |(): ()| async { "m-7" });
    /// let agent = ReAct::<Mail>::new(Script::new(["…"]), [send.clone()]).finish_on(&send, |_, result, _| {
    ///     match result.as_str() {
    ///         Some(id) => Finish::With(Sent { id: id.to_owned(), urgent: false }),
    ///         None => Finish::Continue,
    ///     }
    /// });
    /// # agent.check()?;
    /// # Ok::<(), imp::SpecError>(())
    /// ```
    pub fn finish_on<F>(self, tool: impl AsRef<str>, finish: F) -> Self
    where
        F: Fn(&Map, &Value, &Fields) -> Finish<I::Output> + Send + Sync + 'static,
    {
        let finisher: Finisher =
            Arc::new(move |task, arguments, result, inputs| match finish(arguments, result, inputs) {
                Finish::Continue => Ok(None),
                Finish::With(outputs) => captured_outputs(task, &outputs).map(Some),
            });
        let name = tool.as_ref().to_owned();
        self.changed(|core| core.finishers.push((name, finisher)))
    }

    /// The loop has no `submit` and ends with a successful call of one of these tools. The outputs are what
    /// [`finish_on`](Self::finish_on) makes of it, else what the tool returns: an object of the outputs, or the value of the
    /// only one. By default there are none.
    ///
    /// ```
    /// use imp::{ReAct, Script, Signature, Tool};
    ///
    /// # #[derive(Signature)]
    /// # #[signature(output = Sent)]
    /// # struct Mail { text: String }
    /// # #[derive(Debug, Signature)]
    /// # struct Sent { id: String }
    /// let send = Tool::new("send", "Send the mail.", |(): ()| async { "m-7" });
    /// let agent = ReAct::<Mail>::new(Script::new(["…"]), [send]).finish_tools(["send"]);
    /// # agent.check()?;
    /// # Ok::<(), imp::SpecError>(())
    /// ```
    pub fn finish_tools<T: AsRef<str>>(self, tools: impl IntoIterator<Item = T>) -> Self {
        let tools = tools.into_iter().map(|tool| tool.as_ref().to_owned()).collect();
        self.changed(|core| core.finish_tools = tools)
    }

    /// Watches every call: each request, reply, tool call, result and recorded turn, and the end, also where the
    /// call is dropped before it. See [`Event`].
    pub fn on_event(self, observe: impl Fn(&Event<'_>) + Send + Sync + 'static) -> Self {
        self.changed(|core| core.observers.push(Arc::new(observe)))
    }

    /// The call for some inputs; it is sent when it is awaited.
    pub fn call<'c>(&'c self, inputs: &'c I) -> ReActCall<'c, I::Output>
    where
        I: Sync,
    {
        ReActCall::new(&self.core, inputs)
    }

    /// The description of the signature.
    ///
    /// # Errors
    ///
    /// The signature cannot be described.
    pub fn spec(&self) -> Result<&SignatureSpec, &SpecError> {
        self.core.task.as_ref().map(|task| &**task)
    }
}

/// The tool's name: where a tool is named, the tool itself may be given.
impl AsRef<str> for Tool {
    fn as_ref(&self) -> &str {
        self.name()
    }
}
