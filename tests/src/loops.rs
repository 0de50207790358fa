//! Loops over scripted models, as data: what tests of `ReAct` have in common.

use imp::lm::ScriptReply;
use imp::{
    Capabilities, Choice, Fields, FinishReason, LmError, LmErrorKind, Map, Message, ReAct, ReActError,
    ReActPrediction, Role, Script, SignatureSpec, Tool, ToolCall, Value,
};
use serde_json::{Value as Json, json};

use crate::plain::line;

/// The fields of an object.
///
/// # Panics
///
/// It is no object.
pub fn fields(json: &Json) -> Fields {
    match Value::from(json.clone()) {
        Value::Map(map) => map.into(),
        other => panic!("no fields: {other:?}"),
    }
}

/// A call of a tool.
///
/// # Panics
///
/// The arguments are no object.
pub fn call(id: &str, name: &str, arguments: &Json) -> ToolCall {
    match Value::from(arguments.clone()) {
        Value::Map(arguments) => ToolCall::new(id, name, arguments),
        other => panic!("no arguments: {other:?}"),
    }
}

/// A reply that calls tools, perhaps beside a text.
pub fn calls(text: Option<&str>, calls: impl IntoIterator<Item = ToolCall>) -> ScriptReply {
    let mut choice = Choice::default()
        .tool_calls(calls.into_iter().collect::<Vec<_>>())
        .finish_reason(FinishReason::ToolCalls);
    choice.text = text.map(str::to_owned);
    choice.into()
}

/// A reply of the client that there is none.
pub fn error(kind: LmErrorKind, message: &str) -> ScriptReply {
    LmError::new(kind, message).into()
}

/// A tool that returns its argument `word`, or fails if it is `fail`.
pub fn look() -> Tool {
    let schema = json!({"type": "object", "properties": {"word": {"type": "string"}}});
    Tool::raw("look", "Look it up.", schema, |arguments: Map| async move {
        match arguments.get("word").and_then(Value::as_str) {
            Some("fail") => Err("no such word".to_owned()),
            word => Ok(format!("found {}", word.unwrap_or("nothing"))),
        }
    })
}

/// What a loop is asked.
pub fn intent() -> Fields {
    fields(&json!({"intent": "find it"}))
}

/// A scripted loop.
#[derive(Debug)]
pub struct Loop {
    /// The program.
    pub agent: ReAct<Fields>,
    /// What it was asked with.
    pub script: Script,
}

/// A loop of the signature over a model that gives these replies, without salvage and with the tool `look`.
pub fn scripted(signature: &str, replies: impl IntoIterator<Item = ScriptReply>) -> Loop {
    with_script(line(signature), Script::new(replies))
}

/// The same for a model that cannot call tools.
pub fn scripted_text(signature: &str, replies: impl IntoIterator<Item = ScriptReply>) -> Loop {
    let script = Script::new(replies).with_capabilities(Capabilities::default().tools(false));
    with_script(line(signature), script)
}

/// A loop over a model of one's own.
pub fn with_script(spec: SignatureSpec, script: Script) -> Loop {
    let agent = ReAct::from_spec(spec, script.clone(), [look()]).salvage(false);
    Loop { agent, script }
}

impl Loop {
    /// The loop after a change of its program.
    #[must_use]
    pub fn with(self, change: impl FnOnce(ReAct<Fields>) -> ReAct<Fields>) -> Self {
        Loop { agent: change(self.agent), script: self.script }
    }

    /// Runs it.
    ///
    /// # Errors
    ///
    /// As the loop's.
    pub fn run(&self) -> Result<ReActPrediction<Fields>, ReActError> {
        let inputs = intent();
        imp::lm::block_on(self.agent.call(&inputs).into_future())
    }

    /// How many requests there were.
    pub fn requests(&self) -> usize {
        self.script.requests().len()
    }

    /// The messages of a request, a line each.
    pub fn shown(&self, request: usize) -> Vec<String> {
        self.script.requests().get(request).map(|request| shown(&request.messages)).unwrap_or_default()
    }
}

/// Messages, a line each, without the system message.
pub fn shown(messages: &[Message]) -> Vec<String> {
    let line = |message: &Message| {
        let mut out = format!("{}: {}", message.role.as_str(), message.text());
        if let Some(id) = &message.tool_call_id {
            out = format!("tool#{id}: {}", message.text());
        }
        for call in &message.tool_calls {
            let arguments = serde_json::to_string(&call.arguments).unwrap_or_default();
            out = format!("{out} + {}({arguments})#{}", call.name, call.id);
        }
        out
    };
    messages.iter().filter(|message| message.role != Role::System).map(line).collect()
}

/// The output of a prediction, as JSON.
pub fn output(done: &ReActPrediction<Fields>, name: &str) -> Json {
    let value = done.outputs().and_then(|outputs| outputs.get(name));
    value.map_or(json!("no such output"), |value| serde_json::to_value(value).unwrap_or_default())
}
