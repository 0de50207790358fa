//! Which calls of tools may run.

use std::fmt;
use std::sync::Arc;

use crate::lm::BoxFuture;
use crate::message::ToolCall;
use crate::tool_failure::{Denial, ToolFailure};
use crate::value::Value;

/// Which calls of tools may run: all, those of a list, those that a function allows, those that a person
/// approves.
///
/// The list and the function are asked before the arguments are checked, the person after it, so that nobody is
/// asked about a call that could not run. A call that is not allowed is a result that the model reads.
///
/// ```
/// use imp::{Approval, ToolPolicy};
///
/// let reading = ToolPolicy::only(["search", "read"]);
/// let small = ToolPolicy::from_fn(|call| match call.arguments.get("amount") {
///     Some(amount) if *amount == 0.into() => Approval::denied("the amount is nothing"),
///     _ => Approval::Allowed,
/// });
/// let asked = ToolPolicy::allow().with_approval(|call| async move {
///     // Here a person would be asked.
///     if call.name == "search" { Approval::Allowed } else { Approval::Declined }
/// });
/// # let _ = (reading, small, asked);
/// ```
#[derive(Clone, Default)]
pub struct ToolPolicy {
    rule: Rule,
    approval: Option<Arc<Approve>>,
}

type Decide = dyn Fn(&ToolCall) -> Approval + Send + Sync;
type Approve = dyn Fn(ToolCall) -> BoxFuture<'static, Approval> + Send + Sync;

#[derive(Clone, Default)]
enum Rule {
    #[default]
    All,
    Only(Arc<[String]>),
    Decide(Arc<Decide>),
}

/// Whether one call may run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Approval {
    /// It may.
    Allowed,
    /// A person said no. The model reads `NAME was not allowed; the person declined it.`
    Declined,
    /// It may not. The model reads `NAME is not allowed.`
    Denied,
    /// It may not, for a reason that the model reads: a text, a word in snake case, or an object with
    /// `reason`.
    DeniedFor(Value),
}

impl Approval {
    /// It may not, and this is why.
    pub fn denied(reason: impl Into<Value>) -> Self {
        Approval::DeniedFor(reason.into())
    }

    fn failure(self, name: &str) -> Result<(), ToolFailure> {
        let reason = match self {
            Approval::Allowed => return Ok(()),
            Approval::Declined => Denial::Person,
            Approval::Denied => Denial::Policy,
            Approval::DeniedFor(reason) => Denial::Other(reason),
        };
        Err(ToolFailure::denied(name, reason))
    }
}

impl ToolPolicy {
    /// Every call may run. This is the default.
    pub fn allow() -> Self {
        ToolPolicy::default()
    }

    /// Calls of these tools may run, and of no other.
    pub fn only<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        let names = names.into_iter().map(Into::into).collect();
        ToolPolicy { rule: Rule::Only(names), approval: None }
    }

    /// A call may run if the function says so. One that panics refuses.
    pub fn from_fn(decide: impl Fn(&ToolCall) -> Approval + Send + Sync + 'static) -> Self {
        ToolPolicy { rule: Rule::Decide(Arc::new(decide)), approval: None }
    }

    /// The same policy, and whatever it allows must be approved too. One that panics refuses.
    pub fn with_approval<F>(mut self, approve: impl Fn(ToolCall) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Approval> + Send + 'static,
    {
        self.approval = Some(Arc::new(move |call| Box::pin(approve(call))));
        self
    }

    /// Whether the rule lets a call be tried; a person is not asked.
    ///
    /// # Errors
    ///
    /// It does not.
    pub(crate) fn check(&self, call: &ToolCall) -> Result<(), ToolFailure> {
        let answer = match &self.rule {
            Rule::All => Approval::Allowed,
            Rule::Only(names) if names.contains(&call.name) => Approval::Allowed,
            Rule::Only(_) => Approval::Denied,
            Rule::Decide(decide) => super::guard::caught(|| decide(call)).unwrap_or(Approval::Denied),
        };
        answer.failure(&call.name)
    }

    /// Asks the person, if there is one to ask.
    ///
    /// # Errors
    ///
    /// The person declined.
    pub(crate) async fn approve(&self, call: &ToolCall) -> Result<(), ToolFailure> {
        let Some(approve) = &self.approval else { return Ok(()) };
        let answer = match super::guard::caught(|| approve(call.clone())) {
            Ok(answer) => super::guard::contained(answer).await.unwrap_or(Approval::Denied),
            Err(_) => Approval::Denied,
        };
        answer.failure(&call.name)
    }
}

impl From<&str> for ToolPolicy {
    /// Only this tool.
    fn from(name: &str) -> Self {
        ToolPolicy::only([name])
    }
}

impl<N: Into<String>, const COUNT: usize> From<[N; COUNT]> for ToolPolicy {
    /// Only these tools.
    fn from(names: [N; COUNT]) -> Self {
        ToolPolicy::only(names)
    }
}

impl fmt::Debug for ToolPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rule: &dyn fmt::Debug = match &self.rule {
            Rule::All => &"all",
            Rule::Only(names) => names,
            Rule::Decide(_) => &"a function",
        };
        f.debug_struct("ToolPolicy").field("rule", rule).field("approval", &self.approval.is_some()).finish()
    }
}
