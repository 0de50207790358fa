//! Tools: what they are made of, the check of their arguments (spec/imp.md §16.1, rows 96 and 97), what may run
//! (row 98), and what comes of a function that fails.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use imp::{
    Approval, Denial, Image, Map, Part, Tool, ToolCall, ToolCalls, ToolError, ToolFailure, ToolPolicy,
    ToolSet, Value, tool,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

fn map(json: Json) -> Map {
    match Value::from(json) {
        Value::Map(map) => map,
        other => panic!("no arguments: {other:?}"),
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Order {
    /// What to order.
    sku: String,
    #[schemars(range(min = 1, max = 100))]
    count: u8,
    kind: Option<Kind>,
    #[serde(default)]
    gift: bool,
    rows: Option<Vec<Row>>,
    weight: Option<f64>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Plain,
    Fancy,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Row {
    price: f64,
}

/// Gives its arguments back.
fn order() -> Tool {
    Tool::new("order", "Order.", |args: Order| async move { Ok::<_, Infallible>(args) })
}

#[test]
fn the_schema_is_that_of_the_arguments() {
    assert_eq!(
        *order().definition().parameters(),
        json!({
            "type": "object",
            "properties": {
                "sku": {"description": "What to order.", "type": "string"},
                "count": {"type": "integer", "minimum": 1, "maximum": 100},
                "kind": {"anyOf": [{"type": "string", "enum": ["plain", "fancy"]}, {"type": "null"}]},
                "gift": {"type": "boolean", "default": false},
                "rows": {"type": ["array", "null"], "items": {"type": "object",
                    "properties": {"price": {"type": "number"}}, "required": ["price"]}},
                "weight": {"type": ["number", "null"]},
            },
            "required": ["sku", "count"],
        })
    );
    let none = Tool::new("now", "", |(): ()| async {});
    assert_eq!(*none.definition().parameters(), json!({"type": "object", "properties": {}}));
}

#[tokio::test]
async fn arguments_are_checked_before_the_tool_runs() {
    let order = order();
    for (arguments, expected) in [
        (json!({}), "Error: missing required arguments: sku, count"),
        (json!({"count": null, "sku": "a"}), "Error: missing required arguments: count"),
        // What is missing is said first, and alone.
        (json!({"sku": 5}), "Error: missing required arguments: count"),
        (json!({"sku": 5, "count": 1}), "Error: invalid arguments: sku expected string"),
        // Row 97: all that is wrong, in the order of the schema.
        (
            json!({"count": 101, "sku": 5}),
            "Error: invalid arguments: sku expected string; count must be <= 100",
        ),
        (json!({"sku": "a", "count": 0}), "Error: invalid arguments: count must be >= 1"),
        (json!({"sku": "a", "count": "3"}), "Error: invalid arguments: count expected integer"),
        (
            json!({"sku": "a", "count": 1, "kind": "grand"}),
            r#"Error: invalid arguments: kind must be one of ["plain", "fancy"]"#,
        ),
        (json!({"sku": "a", "count": 1, "rows": 4}), "Error: invalid arguments: rows expected array"),
        (
            json!({"sku": "a", "count": 1, "rows": [{"price": 1}, {"price": "x"}]}),
            "Error: invalid arguments: rows[1].price expected number",
        ),
        (json!({"sku": "a", "count": 1, "gift": "yes"}), "Error: invalid arguments: gift expected boolean"),
    ] {
        let failure = order.call(&map(arguments.clone())).await.unwrap_err();
        assert_eq!(failure.to_string(), expected, "{arguments}");
        assert!(!failure.may_have_run());
    }
    let all = json!({"sku": "a", "count": 1, "kind": "fancy", "gift": true, "rows": [{"price": 2.0}], "weight": 3.0});
    assert_eq!(order.call(&map(all.clone())).await, Ok(all.into()));
    // Null for what has a default is as good as nothing; what the schema does not know does no harm.
    let least = order.call(&map(json!({"sku": "a", "count": 1, "gift": null, "colour": "red"}))).await;
    let expected = json!({"sku": "a", "count": 1, "kind": null, "gift": false, "rows": null, "weight": null});
    assert_eq!(least, Ok(expected.into()));
}

#[tokio::test]
async fn a_schema_of_ones_own() {
    let echo = |schema: Json| Tool::raw("echo", "", schema, |arguments| async move { arguments });
    let closed =
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false});
    let nullable =
        json!({"type": "object", "properties": {"a": {"type": ["string", "null"]}}, "required": ["a"]});
    for (schema, arguments, expected) in [
        (json!({}), json!({"a": [1]}), None),
        (json!({"type": "object"}), json!({"a": [1]}), None),
        (closed.clone(), json!({"a": "x"}), None),
        (closed, json!({"a": "x", "b": 1}), Some("Error: invalid arguments: b is not a parameter")),
        (nullable.clone(), json!({"a": null}), None),
        (nullable, json!({}), Some("Error: missing required arguments: a")),
        (
            json!({"properties": {"a": {"type": "string"}}}),
            json!({"a": 1}),
            Some("Error: invalid arguments: a expected string"),
        ),
        (
            json!({"type": "object", "additionalProperties": {"type": "integer"}}),
            json!({"a": 1, "b": "x"}),
            Some("Error: invalid arguments: b expected integer"),
        ),
    ] {
        let result = echo(schema.clone()).call(&map(arguments.clone())).await;
        match expected {
            None => assert_eq!(result, Ok(arguments.into()), "{schema}"),
            Some(expected) => assert_eq!(result.unwrap_err().to_string(), expected, "{schema}"),
        }
    }
}

#[test]
fn what_cannot_be_offered_says_so_when_the_program_is_made() {
    let nothing = |name: &str| Tool::new(name, "", |(): ()| async {});
    let text = Tool::new("text", "", |_: String| async {});
    let list = Tool::raw("list", "", json!({"type": "array"}), |_| async {});
    let pattern =
        Tool::raw("p", "", json!({"properties": {"a": {"type": "string", "pattern": "["}}}), |_| async {});
    for (tools, expected) in [
        (vec![nothing("look up")], "`look up` cannot be the name of a tool, since ` ` is in it"),
        (vec![nothing("")], "`` cannot be the name of a tool, since it is empty"),
        (vec![nothing(&"x".repeat(65))], "since it has 65 bytes, and at most 64 are allowed"),
        (vec![nothing("a"), nothing("b"), nothing("a")], "two tools are called `a`: rename one"),
        (vec![text], "tool `text`: its arguments are no object"),
        (vec![list], "tool `list`: its arguments are no object"),
        (vec![pattern], "tool `p`: the pattern `[` cannot be used"),
    ] {
        let error = ToolSet::new(tools).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let set = ToolSet::new([nothing("b"), nothing("a")]).unwrap();
    let names: Vec<String> = set.definitions().iter().map(|tool| tool.name().to_owned()).collect();
    assert_eq!(names, ["b", "a"]);
}

/// An error that is no `std::error::Error`, and cannot be serialised.
struct Broke;

impl fmt::Display for Broke {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no such file")
    }
}

#[tokio::test]
async fn what_a_tool_returns() {
    async fn value(tool: Tool) -> Result<Value, String> {
        tool.call(&Map::new()).await.map_err(|failure| failure.to_string())
    }
    let image = Image::from_url("https://example.com/map.png");
    let part = Value::Part(Box::new(Part::Image(image.clone())));
    let both = (image.clone(), image);
    let cases: Vec<(Tool, Result<Value, &str>)> = vec![
        (Tool::new("t", "", |(): ()| async { "text" }), Ok("text".into())),
        (Tool::new("t", "", |(): ()| async {}), Ok(Value::Null)),
        (Tool::new("t", "", |(): ()| async { json!({"a": [1]}) }), Ok(json!({"a": [1]}).into())),
        (Tool::new("t", "", |(): ()| async { Some(1.5) }), Ok(1.5.into())),
        (
            Tool::new("t", "", |(): ()| async { Ok::<_, Broke>(Row { price: 1.0 }) }),
            Ok(json!({"price": 1.0}).into()),
        ),
        (Tool::new("t", "", |(): ()| async { Err::<(), _>(Broke) }), Err("Error: t failed: no such file")),
        (
            Tool::new("t", "", |(): ()| async { Err::<(), _>("boom".to_owned()) }),
            Err("Error: t failed: boom"),
        ),
        (
            Tool::new("t", "", |(): ()| async { Err::<(), _>(ToolError::timed_out()) }),
            Err("Error: t timed out, so it may have been carried out."),
        ),
        (
            Tool::new("t", "", |(): ()| async { Err::<(), _>(ToolError::stopped()) }),
            Err("Error: t stopped before answering, so it may have been carried out."),
        ),
        (
            Tool::new("t", "", |(): ()| async { Err::<(), _>(ToolError::denied("it is Sunday")) }),
            Err("Error: t was not allowed: it is Sunday"),
        ),
        (
            Tool::new("t", "", |(): ()| async {
                Err::<(), _>(ToolError::with_reason(Map::from([
                    ("reason", Value::from("too_many")),
                    ("limit", 2.into()),
                ])))
            }),
            Err("Error: too many (limit 2)"),
        ),
        (
            Tool::new("t", "", |(): ()| async { Err::<(), _>(ToolError::reported("Error: locked")) }),
            Err("Error: locked"),
        ),
        (
            Tool::new("t", "", |(): ()| async { Ok::<_, Broke>(BTreeMap::from([((1, 2), 3)])) }),
            Err(
                "Error: t failed: its result cannot be written: a map's key must be a text, a number or a boolean",
            ),
        ),
        (
            Tool::new("t", "", move |(): ()| {
                let both = both.clone();
                async move { ("the map", both.0, both.1) }
            }),
            Ok(vec![Value::from("the map"), part.clone(), part].into()),
        ),
    ];
    for (at, (tool, expected)) in cases.into_iter().enumerate() {
        assert_eq!(value(tool).await, expected.map_err(str::to_owned), "case {at}");
    }
}

#[tokio::test]
async fn a_panic_is_a_failure_of_that_call_alone() {
    let before = Tool::new("t", "", |args: Row| {
        assert!(args.price < 0.0, "at once");
        async {}
    });
    let inside = Tool::new("t", "", |args: Row| async move {
        tokio::task::yield_now().await;
        let price = args.price;
        assert!(price < 0.0, "the price is {price}");
    });
    let silent = Tool::new("t", "", |_: Row| async { std::panic::panic_any(7) as () });
    for (tool, expected) in [
        (before, "Error: t failed: at once"),
        (inside, "Error: t failed: the price is 1"),
        (silent, "Error: t failed: it threw instead of returning."),
    ] {
        let failure = tool.call(&Map::from([("price", 1)])).await.unwrap_err();
        assert_eq!(failure.to_string(), expected);
    }
}

/// Says when it is dropped.
struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn a_tool_has_a_time() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let count = dropped.clone();
    let endless = Tool::new("wait", "", move |(): ()| {
        let guard = Dropped(count.clone());
        async move {
            std::future::pending::<()>().await;
            drop(guard);
        }
    });
    let failure = endless.timeout(Duration::from_millis(1)).call(&Map::new()).await.unwrap_err();
    assert_eq!(failure, ToolFailure::TimedOut { name: "wait".into() });
    assert_eq!(failure.to_string(), "Error: wait timed out, so it may have been carried out.");
    assert!(failure.may_have_run());
    assert_eq!(dropped.load(Ordering::SeqCst), 1);

    let quick = Tool::new("t", "", |(): ()| async { tokio::task::yield_now().await }).timeout(Duration::MAX);
    assert_eq!(quick.call(&Map::new()).await, Ok(Value::Null));
}

#[tokio::test]
async fn what_may_run() {
    let ran = Arc::new(AtomicUsize::new(0));
    let count = ran.clone();
    let post = Tool::new("post", "", move |_: Row| {
        count.fetch_add(1, Ordering::SeqCst);
        async {}
    });
    let set = ToolSet::new([post]).unwrap();
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let asking = asked.clone();
    let person = ToolPolicy::allow().with_approval(move |call| {
        asking.lock().unwrap().push(call.name);
        async { Approval::Declined }
    });
    let good = ToolCall::new("c", "post", Map::from([("price", 1)]));
    let bad = ToolCall::new("c", "post", Map::new());
    let denied = |name: &str| Some(format!("Error: {name} is not allowed."));
    let cases = [
        (ToolPolicy::default(), &good, None),
        ("post".into(), &good, None),
        (["look", "post"].into(), &good, None),
        // Row 98.
        ("look".into(), &good, denied("post")),
        (
            ToolPolicy::from_fn(
                |call| if call.arguments.is_empty() { Approval::Denied } else { Approval::Allowed },
            ),
            &good,
            None,
        ),
        (
            ToolPolicy::from_fn(|_| Approval::denied("not_connected")),
            &good,
            Some("Error: post was not allowed: not connected".into()),
        ),
        (ToolPolicy::from_fn(|_| panic!("the policy is broken")), &good, denied("post")),
        (person.clone(), &good, Some("Error: post was not allowed; the person declined it.".into())),
        (ToolPolicy::allow().with_approval(|_| async { panic!("nobody there") }), &good, denied("post")),
        // The policy goes before the arguments, and the person behind them.
        ("look".into(), &bad, denied("post")),
        (person, &bad, Some("Error: missing required arguments: price".into())),
    ];
    let allowed = cases.iter().filter(|(_, _, expected)| expected.is_none()).count();
    for (policy, call, expected) in cases {
        let result = set.run(call, &policy).await;
        assert_eq!(result.failure().map(|failure| failure.to_string()), expected, "{policy:?}");
        assert_eq!((&*result.call_id, &*result.name), ("c", "post"));
    }
    assert_eq!(ran.load(Ordering::SeqCst), allowed);
    assert_eq!(*asked.lock().unwrap(), ["post"]);
}

/// Rows 113 to 115 as far as they are the roster's: unknown tools and what is no call are results, and never run.
#[tokio::test]
async fn every_call_has_a_result() {
    let ran = Arc::new(AtomicUsize::new(0));
    let count = ran.clone();
    let reply = Tool::raw("reply", "", json!({}), move |arguments| {
        count.fetch_add(1, Ordering::SeqCst);
        async move { arguments }
    });
    let set = ToolSet::new([reply]).unwrap();
    for (call, expected) in [
        (json!({"tool": "reply", "args": {"a": 1}}), Ok(json!({"a": 1}))),
        (json!({"recipient_name": "functions.reply", "parameters": {"a": 1}}), Ok(json!({"a": 1}))),
        (json!({"id": "c", "function": {"name": "reply", "arguments": "{\"a\": 1}"}}), Ok(json!({"a": 1}))),
        (json!({"name": "reply", "arguments": "\"{\\\"a\\\": 1}\""}), Ok(json!({"a": 1}))),
        (json!({"name": "reply", "arguments": null}), Ok(json!({}))),
        (json!({"name": "reply"}), Ok(json!({}))),
        (json!({"name": "reply", "arguments": ""}), Ok(json!({}))),
        (json!({"name": "reply", "arguments": "[1, 2]"}), Ok(json!({"value": [1, 2]}))),
        (json!({"name": "reply", "arguments": "\"x\""}), Ok(json!({"value": "x"}))),
        (json!({"name": "reply", "arguments": "{\"a\": "}), Err("Error: the tool call could not be read.")),
        (json!({"name": "submit", "args": {}}), Err("Error: there is no tool named submit.")),
        (json!({"name": "functions.", "args": {}}), Err("Error: the tool call could not be read.")),
        (json!({"command": "cat", "args": ["x"]}), Err("Error: the tool call could not be read.")),
        (json!({"function": "reply"}), Err("Error: the tool call could not be read.")),
        (json!("reply"), Err("Error: the tool call could not be read.")),
    ] {
        let before = ran.load(Ordering::SeqCst);
        let read = ToolCall::from_value(&call.clone().into());
        let result = set.run(&read, &ToolPolicy::allow()).await;
        let runs = ran.load(Ordering::SeqCst) - before;
        match expected {
            Ok(value) => {
                assert_eq!((result.value, result.is_error, runs), (value.into(), false, 1), "{call}");
            }
            Err(words) => {
                let failure = result.failure().unwrap_or_else(|| panic!("{call} ran"));
                assert_eq!((failure.to_string().as_str(), runs), (words, 0), "{call}");
                if let ToolFailure::MalformedCall { received } = failure {
                    assert_eq!(received, call.into());
                }
            }
        }
    }
}

/// The port's tide.
///
/// In metres.
#[tool]
async fn tide(
    /// The port's name.
    port: String,
    #[serde(default)] mut days: Vec<u8>,
    #[schemars(range(max = 7))] r#in: Option<u8>,
) -> Result<String, Broke> {
    days.sort_unstable();
    let ahead = r#in;
    if port.is_empty() { Err(Broke) } else { Ok(format!("{port} {days:?} {ahead:?}")) }
}

struct Log(Mutex<Vec<String>>);

impl Log {
    /// Write a line.
    #[tool(name = "note-down", description = "Keep a line.")]
    async fn note(&self, line: String) -> usize {
        let mut lines = self.0.lock().unwrap();
        lines.push(line);
        lines.len()
    }

    #[tool]
    async fn lines(self: Arc<Self>) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

#[tokio::test]
async fn an_async_function_is_a_tool() {
    // The function is still one.
    assert_eq!(tide("Oban".into(), vec![2, 1], None).await.ok().as_deref(), Some("Oban [1, 2] None"));
    let tool = tide_tool();
    assert_eq!((tool.name(), tool.definition().description()), ("tide", "The port's tide.\n\nIn metres."));
    assert_eq!(
        *tool.definition().parameters(),
        json!({
            "type": "object",
            "properties": {
                "port": {"description": "The port's name.", "type": "string"},
                "days": {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 255}, "default": []},
                "in": {"type": ["integer", "null"], "minimum": 0, "maximum": 7},
            },
            "required": ["port"],
        })
    );
    let call = |arguments: Json| {
        let (tool, arguments) = (tool.clone(), map(arguments));
        async move { tool.call(&arguments).await.map_err(|failure| failure.to_string()) }
    };
    assert_eq!(call(json!({"port": "Oban", "in": 3})).await, Ok("Oban [] Some(3)".into()));
    assert_eq!(call(json!({"port": ""})).await, Err("Error: tide failed: no such file".into()));
    assert_eq!(
        call(json!({"port": "Oban", "in": 8})).await,
        Err("Error: invalid arguments: in must be <= 7".into())
    );
    assert_eq!(
        call(json!({"port": "Oban", "days": [300]})).await,
        Err("Error: invalid arguments: days[0] must be <= 255".into())
    );
}

#[tokio::test]
async fn a_method_is_a_tool() {
    let log = Arc::new(Log(Mutex::default()));
    let (note, lines) = (log.note_tool(), log.lines_tool());
    assert_eq!((note.name(), note.definition().description()), ("note-down", "Keep a line."));
    assert_eq!(lines.definition().description(), "");
    assert_eq!(note.call(&Map::from([("line", "a")])).await, Ok(1.into()));
    assert_eq!(lines.call(&Map::new()).await, Ok(vec![Value::from("a")].into()));
    assert_eq!(*log.0.lock().unwrap(), ["a"]);
}

#[tokio::test]
async fn state() {
    async fn add(total: Arc<AtomicUsize>, row: Row) -> usize {
        total.fetch_add(usize::from(row.price > 0.0), Ordering::SeqCst) + 1
    }
    let total = Arc::new(AtomicUsize::new(4));
    let tool = Tool::with(total.clone(), "add", "Add.", add);
    assert_eq!(tool.call(&Map::from([("price", 1)])).await, Ok(5.into()));
    assert_eq!(total.load(Ordering::SeqCst), 5);
}

/// A call can be moved to another thread, and so can what it waits for.
#[test]
fn calls_are_send() {
    fn is_send<T: Send + Sync>(_: &T) {}
    fn may_move<T: Send>(_: T) {}
    let tool = order();
    let (set, call) = (ToolSet::new([tool.clone()]).unwrap(), ToolCall::new("c", "order", Map::new()));
    let policy = ToolPolicy::allow();
    is_send(&tool);
    is_send(&set);
    is_send(&policy);
    may_move(tool.call(&call.arguments));
    may_move(set.run(&call, &policy));
}

#[test]
fn denials_are_told_apart() {
    let words = |reason| ToolFailure::denied("post", reason).to_string();
    assert_eq!(words(Denial::Policy), "Error: post is not allowed.");
    assert_eq!(words(Denial::Person), "Error: post was not allowed; the person declined it.");
    assert_eq!(
        words(Denial::Other("the door is shut".into())),
        "Error: post was not allowed: the door is shut"
    );
}

/// What was called, and what could not be read, survives being stored.
#[test]
fn calls_are_stored_whole() {
    for written in [
        json!({"id": "c1", "name": "look", "args": {"a": [1, 2.5, null]}}),
        json!({"name": "look", "args": {}}),
        json!({"command": "cat"}),
        json!({"id": "c2", "function": {"name": "look", "arguments": "{"}}),
        json!(null),
        json!([1]),
    ] {
        let calls = ToolCalls::from(vec![ToolCall::from_value(&written.clone().into())]);
        let stored = serde_json::to_string(&calls).unwrap();
        assert_eq!(serde_json::from_str::<ToolCalls>(&stored).unwrap(), calls, "{stored}");
        // What is stored is read as a call, too.
        let data = serde_json::from_str::<Json>(&stored).unwrap();
        assert!(calls.calls[0].malformed.is_some() == data["tool_calls"][0].get("malformed").is_some());
    }
}
