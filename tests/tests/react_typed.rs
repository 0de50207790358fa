//! Loops over structs, and what an observer sees.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use imp::lm::ScriptReply;
use imp::{Cause, Event, Finish, History, Image, Map, ReAct, Script, Signature, Termination, Tool, ToolCall};
use imp_tests::loops::{call, calls};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Route the ticket.
#[derive(Signature)]
#[signature(output = Route)]
struct Ticket<'t> {
    text: &'t str,
    plan: Option<String>,
    history: History,
}

#[derive(Debug, PartialEq, Signature)]
struct Route {
    /// atlas: money. harbor: the platform.
    team: Team,
    #[field(min = 1, max = 4)]
    priority: u8,
    reply: Option<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Team {
    Atlas,
    Harbor,
}

fn on_call() -> Tool {
    Tool::new("on_call", "Who is on call.", |(): ()| async { "Ada" })
}

fn ticket(text: &str) -> Ticket<'_> {
    Ticket { text, plan: None, history: History::new() }
}

fn done<O>(result: Result<imp::ReActPrediction<O>, imp::ReActError>) -> imp::ReActPrediction<O> {
    result.unwrap()
}

#[test]
fn a_submit_is_read_into_the_struct() {
    let wrong = json!({"team": "atlas", "priority": 9, "reply": null});
    let right = json!({"team": "atlas", "priority": "2", "reply": null});
    let script = Script::new([
        calls(None, [call("a", "on_call", &json!({}))]),
        calls(None, [call("b", "submit", &wrong)]),
        calls(None, [call("c", "submit", &right)]),
    ]);
    let agent = ReAct::<Ticket<'_>>::new(script.clone(), [on_call()]);
    let text = String::from("Charged twice");
    let prediction = done(agent.call(&ticket(&text)).user_name("alice").blocking());
    assert_eq!(prediction.outputs(), Some(&Route { team: Team::Atlas, priority: 2, reply: None }));
    let schema = script.requests()[0].tools[1].parameters().clone();
    assert_eq!(schema["required"], json!(["team", "priority", "reply"]));
    assert_eq!(schema["properties"]["priority"]["maximum"], json!(4));
    assert_eq!(schema["properties"]["team"]["enum"], json!(["atlas", "harbor"]));
    assert!(!script.requests()[0].messages[0].text().contains("history"));
    let refused = script.requests()[2].messages.last().unwrap().text().into_owned();
    assert!(refused.starts_with("Error: submit outputs were not accepted: "), "{refused}");

    // The history of one call is the next one's input.
    let script = Script::new([calls(None, [call("c", "submit", &right)])]);
    let agent = ReAct::<Ticket<'_>>::new(script.clone(), [on_call()]);
    let next = Ticket { text: "And now?", plan: None, history: prediction.history().clone() };
    let again = done(agent.call(&next).blocking());
    assert_eq!(again.history().len(), prediction.history().len() + 1);
    let messages = script.requests()[0].messages.clone();
    assert_eq!(messages[1].name.as_deref(), Some("alice"));
    assert!(messages.last().unwrap().text().contains("And now?"));
}

#[test]
fn a_tool_ends_the_loop_with_a_struct() {
    let script = Script::new([calls(None, [call("a", "on_call", &json!({}))])]);
    let tool = on_call();
    let agent = ReAct::<Ticket<'_>>::new(script, [tool.clone()]).finish_on(&tool, |_, result, inputs| {
        assert_eq!(inputs.get("text"), Some(&"Help".into()));
        let reply = Some(format!("{} is on it", result.as_str().unwrap_or("nobody")));
        Finish::With(Route { team: Team::Harbor, priority: 1, reply })
    });
    let prediction = done(agent.call(&ticket("Help")).blocking());
    assert_eq!(prediction.finished_by_tool(), Some("on_call"));
    assert_eq!(prediction.into_outputs().unwrap().reply.as_deref(), Some("Ada is on it"));
}

type Log = Arc<Mutex<Vec<String>>>;

fn log() -> (Log, impl Fn(&Event<'_>) + Send + Sync + 'static) {
    let log = Log::default();
    let kept = log.clone();
    let observe = move |event: &Event<'_>| {
        let line = match event {
            Event::Requested { step, request } => format!("{step} request {}", request.messages.len()),
            Event::Replied { step, completion } => format!("{step} reply {:?}", completion.text()),
            Event::Calling { step, call } => format!("{step} call {}#{}", call.name, call.id),
            Event::Called { step, result } => format!("{step} result {}", result.call_id),
            Event::Recorded { step, .. } => format!("{step} turn"),
            Event::Ended { reason, history } => format!("end {} {}", reason.as_str(), history.len()),
            Event::Failed { history } => format!("failed {}", history.len()),
            Event::Cancelled { history } => {
                format!("cancelled {}", history.dump().unwrap()["messages"])
            }
            _ => String::new(),
        };
        kept.lock().unwrap().push(line);
    };
    (log, observe)
}

#[test]
fn every_step_is_told() {
    let script = Script::new([
        calls(None, [call("", "on_call", &json!({}))]),
        calls(None, [call("s", "submit", &json!({"team": "atlas", "priority": 1, "reply": "x"}))]),
    ]);
    let (log, observe) = log();
    let agent = ReAct::<Ticket<'_>>::new(script, [on_call()]).on_event(observe);
    done(agent.call(&ticket("Help")).blocking());
    assert_eq!(
        *log.lock().unwrap(),
        [
            "0 request 2",
            "0 reply None",
            "0 call on_call#call_0_0",
            "0 result call_0_0",
            "0 turn",
            "1 request 4",
            "1 reply None",
            "1 call submit#s",
            "1 result s",
            "1 turn",
            "end submit 2",
        ]
    );
}

#[test]
fn a_dropped_call_tells_its_history() {
    let slow = Tool::new("slow", "Never ends.", |(): ()| std::future::pending::<&'static str>());
    let script = Script::new([calls(
        Some("Let me see."),
        [call("a", "on_call", &json!({})), call("b", "slow", &json!({})), call("c", "on_call", &json!({}))],
    )]);
    let (log, observe) = log();
    let agent = ReAct::<Ticket<'_>>::new(script, [on_call(), slow]);
    let inputs = ticket("Help");
    {
        let mut future = pin!(agent.call(&inputs).on_event(observe).into_future());
        let mut context = Context::from_waker(Waker::noop());
        assert!(matches!(future.as_mut().poll(&mut context), Poll::Pending));
    }
    let last = log.lock().unwrap().pop().unwrap();
    let history: serde_json::Value = serde_json::from_str(last.strip_prefix("cancelled ").unwrap()).unwrap();
    assert_eq!(history[0]["text"], "Help");
    assert_eq!(history[0]["next_thought"], "Let me see.");
    assert_eq!(history[0]["tool_calls"].as_array().unwrap().len(), 3);
    let results = history[0]["tool_call_results"].as_array().unwrap();
    assert_eq!(results[0]["value"], "Ada");
    // The tool that was running may have done what it does; the one behind it never began.
    assert_eq!((&results[1]["call_id"], &results[1]["is_error"]), (&json!("b"), &json!(true)));
    assert_eq!(results.len(), 2);
}

#[test]
fn a_deadline_is_kept_between_steps_and_given_to_requests() {
    let script = Script::from_fn(|_| ScriptReply::from(ToolCall::new("a", "wait", Map::new())));
    let wait = Tool::new("wait", "Waits.", |(): ()| async { std::thread::sleep(Duration::from_millis(60)) });
    let agent = ReAct::<Ticket<'_>>::new(script.clone(), [wait]).max_iters(1000);
    let prediction =
        done(agent.call(&ticket("x")).deadline(Instant::now() + Duration::from_millis(50)).blocking());
    assert_eq!(
        (prediction.termination(), prediction.cause()),
        (Termination::Incomplete, Some(Cause::DeadlineExceeded))
    );
    assert!(!prediction.history().is_empty());
    let timeout = script.requests()[0].config.timeout.unwrap();
    assert!(timeout <= Duration::from_millis(50));
}

#[test]
fn rows_161_and_162_images_in_results() {
    let pixel = "data:image/png;base64,iVBORw0KGgo=";
    let camera = Tool::new("camera", "Take a picture.", move |(): ()| async move {
        ("the harbour", Image::from_url(pixel))
    });
    let nothing = Tool::new("nothing", "Says nothing.", |(): ()| async { "" });
    let script = Script::new([
        calls(None, [call("a", "camera", &json!({})), call("b", "nothing", &json!({}))]),
        calls(None, [call("s", "submit", &json!({"team": "atlas", "priority": 1, "reply": null}))]),
    ]);
    let agent = ReAct::<Ticket<'_>>::new(script.clone(), [camera, nothing]);
    let prediction = done(agent.call(&ticket("Look")).blocking());
    let shown = imp_tests::loops::shown(&script.requests()[1].messages[3..]);
    assert_eq!(shown[..2], ["tool#a: the harbour", "tool#b: "]);
    assert!(shown[2].starts_with("user: ") && shown[2].contains('a'), "{shown:?}");
    // The same from a store.
    let dumped = History::load(&prediction.history().dump().unwrap()).unwrap();
    assert_eq!(dumped, *prediction.history());
}

#[test]
fn a_future_can_be_sent() {
    fn is_send(_: impl Send) {}
    let agent = ReAct::<Ticket<'_>>::new(Script::new(["x"]), [on_call()]);
    is_send(agent.call(&ticket("x")).into_future());
}
