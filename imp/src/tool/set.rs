//! The tools of a program.

use std::fmt;

use super::Tool;
use super::policy::ToolPolicy;
use crate::message::ToolCall;
use crate::tool_calls::ToolResult;
use crate::tool_definition::{ToolDefinition, ToolDefinitionError};
use crate::tool_failure::ToolFailure;
use crate::value::Value;

/// The tools of a program, each with a name of its own, in the order in which the model sees them.
///
/// Use it to run the calls that a model asked for: every call gets a result, and what goes wrong is one that
/// the model can read.
///
/// ```
/// use imp::{Map, Tool, ToolCall, ToolPolicy, ToolSet};
///
/// # async fn run() -> Result<(), imp::ToolSetError> {
/// let tools = ToolSet::new([Tool::new("motto", "The motto.", |(): ()| async { "be kind" })])?;
/// let call = ToolCall::new("c1", "motto", Map::new());
/// let result = tools.run(&call, &ToolPolicy::allow()).await;
/// assert_eq!(result.value, "be kind".into());
///
/// let unknown = tools.run(&ToolCall::new("c2", "moto", Map::new()), &ToolPolicy::allow()).await;
/// assert_eq!(unknown.failure().map(|failure| failure.to_string()).as_deref(), Some("Error: there is no tool named moto."));
/// # Ok(())
/// # }
/// # let mut run = std::pin::pin!(run());
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # assert!(matches!(run.as_mut().poll(&mut context), std::task::Poll::Ready(Ok(()))));
/// ```
#[derive(Debug, Clone, Default)]
pub struct ToolSet {
    tools: Vec<Tool>,
}

impl ToolSet {
    /// The tools in this order.
    ///
    /// # Errors
    ///
    /// A tool cannot be offered to a model (its name, its arguments), or two have the same name.
    pub fn new(tools: impl IntoIterator<Item = Tool>) -> Result<Self, ToolSetError> {
        let tools: Vec<Tool> = tools.into_iter().collect();
        for (at, tool) in tools.iter().enumerate() {
            tool.check().map_err(|error| ToolSetError(Repr::Definition(error)))?;
            if tools.iter().take(at).any(|other| other.name() == tool.name()) {
                return Err(ToolSetError(Repr::Twice(tool.name().to_owned())));
            }
        }
        Ok(ToolSet { tools })
    }

    /// The tool of this name.
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name() == name)
    }

    /// The tools in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Tool> {
        self.tools.iter()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// What a request says of the tools.
    pub fn definitions(&self) -> Vec<ToolDefinition> {
        self.tools.iter().map(|tool| tool.definition().clone()).collect()
    }

    /// Runs one call, if it can be read, the tool is there, the policy lets it and its arguments fit (Imp §14.4).
    pub async fn run(&self, call: &ToolCall, policy: &ToolPolicy) -> ToolResult {
        match self.value(call, policy).await {
            Ok(value) => ToolResult::new(&*call.id, &*call.name, value),
            Err(failure) => ToolResult::failed(&*call.id, &*call.name, &failure),
        }
    }

    async fn value(&self, call: &ToolCall, policy: &ToolPolicy) -> Result<Value, ToolFailure> {
        if let Some(received) = &call.malformed {
            return Err(ToolFailure::malformed_call(received.clone()));
        }
        let tool = self.get(&call.name).ok_or_else(|| ToolFailure::unknown_tool(&*call.name))?;
        policy.check(call)?;
        let arguments = tool.checked(&call.arguments)?;
        policy.approve(call).await?;
        tool.run(arguments).await
    }
}

/// Tools that cannot be offered to a model together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolSetError(Repr);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Repr {
    Definition(ToolDefinitionError),
    Twice(String),
}

impl fmt::Display for ToolSetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Definition(error) => error.fmt(f),
            Repr::Twice(name) => write!(f, "two tools are called `{name}`: rename one"),
        }
    }
}

impl std::error::Error for ToolSetError {}
