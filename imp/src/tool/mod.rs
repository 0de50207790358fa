//! Tools: functions that a model may ask to be run.

mod error;
mod guard;
mod output;
mod policy;
mod schema;
mod set;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};
use serde_json::Value as Json;

pub use error::{ToolError, ToolErrorKind};
pub use output::ToolReturn;
pub use policy::{Approval, ToolPolicy};
pub(crate) use schema::tidy;
pub use set::{ToolSet, ToolSetError};

use crate::lm::BoxFuture;
use crate::meta::{Side, schema_for};
use crate::text::read::arguments::{self, Wrong};
use crate::tool_definition::{self, ToolDefinition, ToolDefinitionError};
use crate::tool_failure::{ArgumentError, ToolFailure};
use crate::types::TypeTree;
use crate::value::{Map, Value};
use crate::variants::declare_order;

/// A function that a model may ask to be run: a name, what it does, and the schema of its arguments.
///
/// | made from | by |
/// | --- | --- |
/// | a closure with an argument struct | [`Tool::new`] |
/// | an async function with state | [`Tool::with`] |
/// | an async function or method, by its signature and doc comment | [`#[tool]`](macro@crate::tool) |
/// | a JSON Schema and a function of a map | [`Tool::raw`] |
///
/// The model reads the description and the schema, so doc comments on the argument struct and its fields are
/// prompts. Before the function runs, the arguments are checked against the schema; what is wrong goes back to the
/// model in words, as does the function's own error. A panic of the function is caught and is an error like any
/// other (unless the program aborts on panics).
///
/// A name that providers refuse, or arguments that are no struct, do not fail here, so that a list of tools is
/// an expression: [`check`](Tool::check) says so, as does whatever takes the tool.
///
/// ```
/// use imp::{Map, Tool};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct OnCall {
///     /// The squad's name.
///     squad: String,
///     #[schemars(range(max = 7))]
///     days_ahead: Option<u8>,
/// }
///
/// # async fn run() -> Result<(), imp::ToolFailure> {
/// let on_call = Tool::new("on_call", "Look up who is on call.", |args: OnCall| async move {
///     format!("Ada ({}, in {} days)", args.squad, args.days_ahead.unwrap_or(0))
/// });
/// let answer = on_call.call(&Map::from([("squad", "beacon")])).await?;
/// assert_eq!(answer, "Ada (beacon, in 0 days)".into());
///
/// let failure = on_call.call(&Map::from([("days_ahead", 3)])).await.unwrap_err();
/// assert_eq!(failure.to_string(), "Error: missing required arguments: squad");
/// # Ok(())
/// # }
/// # let mut run = std::pin::pin!(run());
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # assert!(matches!(run.as_mut().poll(&mut context), std::task::Poll::Ready(Ok(()))));
/// ```
#[derive(Clone)]
pub struct Tool(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    definition: ToolDefinition,
    /// What keeps it from being offered to a model.
    trouble: Option<ToolDefinitionError>,
    /// The schema, compiled; none is one that allows everything.
    tree: Option<Arc<TypeTree>>,
    timeout: Option<Duration>,
    run: Arc<Run>,
}

/// Reads the arguments and starts the function.
type Run = dyn Fn(&Map) -> Result<Started, ToolFailure> + Send + Sync;
type Started = BoxFuture<'static, Result<Value, ToolError>>;

/// What a tool's arguments are read into: a struct that is `Deserialize` and `JsonSchema`, or `()` for a tool
/// without arguments.
// No supertraits: rustc would report each of them on its own.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the arguments of a tool",
    label = "this type has no JSON Schema or cannot be deserialised",
    note = "a tool's arguments implement `serde::Deserialize` and `schemars::JsonSchema`: derive both"
)]
pub trait ToolArguments: Sized {
    /// The JSON Schema of the arguments.
    fn schema() -> Json;

    /// Reads arguments that fit the schema.
    #[doc(hidden)]
    fn read(tree: &Compiled, arguments: &Map) -> Result<Self, ToolFailure>;
}

/// A compiled schema.
#[doc(hidden)]
#[derive(Debug)]
pub struct Compiled(Arc<TypeTree>);

#[diagnostic::do_not_recommend]
impl<A: DeserializeOwned + JsonSchema> ToolArguments for A {
    fn schema() -> Json {
        let mut schema = schema_for::<A>(Side::Output);
        declare_order::<A>(&mut schema);
        schema
    }

    fn read(tree: &Compiled, arguments: &Map) -> Result<Self, ToolFailure> {
        arguments::typed(&tree.0, arguments).map_err(|(field, message)| ToolFailure::InvalidArguments {
            errors: vec![ArgumentError::new(field, message)],
        })
    }
}

impl Tool {
    /// A tool of an async closure.
    ///
    /// An async closure that captures something cannot be asked to be `Send` on this compiler, hence a closure that
    /// returns a future: `|args: Args| async move { … }`.
    pub fn new<A, F>(
        name: impl Into<Arc<str>>,
        description: impl Into<Arc<str>>,
        function: impl Fn(A) -> F + Send + Sync + 'static,
    ) -> Self
    where
        A: ToolArguments,
        F: Future<Output: ToolReturn> + Send + 'static,
    {
        let schema = A::schema();
        // The type's own schema is what its values are read by; what the model sees says the same.
        match TypeTree::compile(&schema) {
            Ok(tree) => {
                let tree = Arc::new(tree);
                let compiled = Compiled(tree.clone());
                let run = move |arguments: &Map| {
                    let future = function(A::read(&compiled, arguments)?);
                    Ok(started(async move { future.await.into_result() }))
                };
                Tool::made(name.into(), description.into(), tidy(schema), Some(tree), Arc::new(run))
            }
            Err(error) => Tool::refused(name.into(), description.into(), &error),
        }
    }

    /// A tool of an async function that has state: a database, a client.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use imp::{Map, Tool};
    ///
    /// struct Squads(Vec<&'static str>);
    ///
    /// async fn list(squads: Arc<Squads>, (): ()) -> Vec<&'static str> {
    ///     squads.0.clone()
    /// }
    ///
    /// # async fn run() -> Result<(), imp::ToolFailure> {
    /// let tool = Tool::with(Squads(vec!["atlas", "beacon"]), "squads", "List the squads.", list);
    /// assert_eq!(tool.call(&Map::new()).await?, vec!["atlas".into(), "beacon".into()].into());
    /// # Ok(())
    /// # }
    /// # let mut run = std::pin::pin!(run());
    /// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    /// # assert!(matches!(run.as_mut().poll(&mut context), std::task::Poll::Ready(Ok(()))));
    /// ```
    pub fn with<S, A, F>(
        state: impl Into<Arc<S>>,
        name: impl Into<Arc<str>>,
        description: impl Into<Arc<str>>,
        function: impl Fn(Arc<S>, A) -> F + Send + Sync + 'static,
    ) -> Self
    where
        S: Send + Sync + 'static,
        A: ToolArguments,
        F: Future<Output: ToolReturn> + Send + 'static,
    {
        let state = state.into();
        Tool::new(name, description, move |arguments: A| function(state.clone(), arguments))
    }

    /// A tool whose arguments are described by a JSON Schema and given as a map: one that is known at run time
    /// only. An empty schema checks nothing; one that cannot be checked (its pattern is no regular expression here, its
    /// reference leads nowhere) makes a tool that [`check`](Self::check) refuses.
    ///
    /// ```
    /// use imp::{Map, Tool};
    /// use serde_json::json;
    ///
    /// # async fn run() -> Result<(), imp::ToolFailure> {
    /// let schema = json!({"type": "object", "properties": {"port": {"type": "string"}}, "required": ["port"]});
    /// let tide = Tool::raw("tide", "The tide in a port.", schema, |arguments| async move {
    ///     format!("high in {}", arguments.get("port").and_then(|port| port.as_str()).unwrap_or("?"))
    /// });
    /// assert_eq!(tide.call(&Map::from([("port", "Oban")])).await?, "high in Oban".into());
    /// let failure = tide.call(&Map::from([("port", 4)])).await.unwrap_err();
    /// assert_eq!(failure.to_string(), "Error: invalid arguments: port expected string");
    /// # Ok(())
    /// # }
    /// # let mut run = std::pin::pin!(run());
    /// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    /// # assert!(matches!(run.as_mut().poll(&mut context), std::task::Poll::Ready(Ok(()))));
    /// ```
    pub fn raw<F>(
        name: impl Into<Arc<str>>,
        description: impl Into<Arc<str>>,
        mut schema: Json,
        function: impl Fn(Map) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output: ToolReturn> + Send + 'static,
    {
        if let Json::Object(schema) = &mut schema {
            // Providers want it said.
            if schema.contains_key("properties") && !schema.contains_key("type") {
                schema.insert("type".to_owned(), "object".into());
            }
        }
        let run = move |arguments: &Map| {
            let future = function(arguments.clone());
            Ok(started(async move { future.await.into_result() }))
        };
        let unchecked = schema.as_object().is_some_and(serde_json::Map::is_empty);
        match TypeTree::compile(&schema) {
            Ok(tree) => {
                let tree = (!unchecked).then(|| Arc::new(tree));
                Tool::made(name.into(), description.into(), schema, tree, Arc::new(run))
            }
            Err(error) => Tool::refused(name.into(), description.into(), &error),
        }
    }

    fn made(
        name: Arc<str>,
        description: Arc<str>,
        schema: Json,
        tree: Option<Arc<TypeTree>>,
        run: Arc<Run>,
    ) -> Self {
        let is_object = schema.as_object().is_some_and(serde_json::Map::is_empty)
            || schema.get("type").and_then(Json::as_str) == Some("object");
        let definition = if is_object {
            ToolDefinition::new(name.clone(), description.clone(), schema)
        } else {
            Err(ToolDefinitionError::new(format!(
                "tool `{name}`: its arguments are no object, which providers ask for: make them a struct"
            )))
        };
        match definition {
            Ok(definition) => Tool(Arc::new(Inner { definition, trouble: None, tree, timeout: None, run })),
            Err(trouble) => Tool::broken(name, description, trouble),
        }
    }

    fn refused(name: Arc<str>, description: Arc<str>, error: &str) -> Self {
        let trouble = ToolDefinitionError::new(format!("tool `{name}`: {error}"));
        Tool::broken(name, description, trouble)
    }

    fn broken(name: Arc<str>, description: Arc<str>, trouble: ToolDefinitionError) -> Self {
        let message = trouble.to_string();
        let run = move |_: &Map| {
            let message = message.clone();
            Ok(started(async move { Err(ToolError::new(message)) }))
        };
        Tool(Arc::new(Inner {
            definition: ToolDefinition::unchecked(name, description),
            trouble: Some(trouble),
            tree: None,
            timeout: None,
            run: Arc::new(run),
        }))
    }

    /// The same tool with a limit to how long one call may take; none by default. The function's future is
    /// dropped then, and the model reads that the call may have been carried out.
    ///
    /// The time is kept by a thread that sleeps as long as a call is waited for, so no runtime is needed.
    pub fn timeout(mut self, limit: Duration) -> Self {
        Arc::make_mut(&mut self.0).timeout = Some(limit);
        self
    }

    /// What a model is told of the tool.
    pub fn definition(&self) -> &ToolDefinition {
        &self.0.definition
    }

    /// The name by which the model calls the tool.
    pub fn name(&self) -> &str {
        self.0.definition.name()
    }

    /// Whether the tool can be offered to a model.
    ///
    /// # Errors
    ///
    /// Its name is not what providers take (`^[a-zA-Z0-9_-]{1,64}$`), or its arguments are no object.
    pub fn check(&self) -> Result<(), ToolDefinitionError> {
        self.0.trouble.clone().map_or(Ok(()), Err)
    }

    /// Checks the arguments, runs the function and waits for its value.
    ///
    /// # Errors
    ///
    /// The arguments do not fit the schema (then nothing ran), or the function failed, panicked, or took too
    /// long.
    pub async fn call(&self, arguments: &Map) -> Result<Value, ToolFailure> {
        let arguments = self.checked(arguments)?;
        self.run(arguments).await
    }

    /// The arguments as the schema asks.
    pub(crate) fn checked(&self, arguments: &Map) -> Result<Map, ToolFailure> {
        let Some(tree) = &self.0.tree else { return Ok(arguments.clone()) };
        arguments::check(tree, arguments).map_err(|wrong| match wrong {
            Wrong::Missing(names) => ToolFailure::MissingArguments { names },
            Wrong::Invalid(errors) => ToolFailure::InvalidArguments {
                errors: errors
                    .into_iter()
                    .map(|(field, message)| ArgumentError::new(field, message))
                    .collect(),
            },
        })
    }

    /// Runs the function with arguments that have been checked.
    pub(crate) async fn run(&self, arguments: Map) -> Result<Value, ToolFailure> {
        let name = || self.name().to_owned();
        let panicked = |message: guard::Panicked| match message {
            Some(message) => ToolFailure::Failed { name: name(), message },
            None => ToolFailure::Threw { name: name() },
        };
        let future = guard::caught(|| (self.0.run)(&arguments)).map_err(panicked)??;
        match guard::within(self.0.timeout, guard::contained(future)).await {
            None => Err(ToolFailure::TimedOut { name: name() }),
            Some(Err(message)) => Err(panicked(message)),
            Some(Ok(result)) => result.map_err(|error| error.failure(self.name())),
        }
    }
}

fn started(future: impl Future<Output = Result<Value, ToolError>> + Send + 'static) -> Started {
    Box::pin(future)
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool")
            .field("name", &self.name())
            .field("description", &self.0.definition.description())
            .field("trouble", &self.0.trouble)
            .field("timeout", &self.0.timeout)
            .finish_non_exhaustive()
    }
}

/// As its [`ToolDefinition`].
impl Serialize for Tool {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.check().map_err(serde::ser::Error::custom)?;
        self.0.definition.serialize(serializer)
    }
}

impl From<Tool> for ToolDefinition {
    fn from(tool: Tool) -> Self {
        tool.0.definition.clone()
    }
}

impl JsonSchema for Tool {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Tool".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        tool_definition::schema().try_into().unwrap_or_default()
    }
}
