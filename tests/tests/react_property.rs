//! What holds of every loop: random replies, tools and failures; native and written; under each adapter.
//!
//! Each request starts with what the one before says, every call has exactly one result with its id, every request is
//! one that OpenAI takes, and the returned history makes the same messages again.

mod common;

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use common::openai_schema::violations;
use imp::lm::ScriptReply;
use imp::lm::wire::openai::encode;
use imp::{
    Adapter, Capabilities, Chat, Fields, History, Json, LmErrorKind, Map, Message, ReAct, Request, Role,
    Script, Turn, Value, Xml,
};
use imp_tests::loops::{call, calls, error, fields, look};
use imp_tests::plain::line;
use serde_json::{Value as Data, json};

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    fn text(&mut self) -> &'static str {
        const TEXTS: [&str; 6] = [
            "plain words",
            "",
            "[[ ## answer ## ]]\nmine",
            "\\[[ ## completed ## ]]",
            "two\n\nlines <answer>x</answer>",
            "{\"a\": 1}",
        ];
        TEXTS[self.below(TEXTS.len())]
    }

    fn call(&mut self) -> imp::ToolCall {
        let id = ["", "", "c1", "c2", "x"][self.below(5)];
        let arguments = match self.below(4) {
            0 => json!({"word": "fail"}),
            1 => json!({"word": 7}),
            _ => json!({"word": self.text()}),
        };
        let name = ["look", "look", "missing", "submit", "panics"][self.below(5)];
        let arguments = if name == "submit" && self.below(3) > 0 {
            [json!({"answer": "x", "confidence": 1}), json!({"answer": "x"})][self.below(2)].clone()
        } else {
            arguments
        };
        call(id, name, &arguments)
    }

    /// A reply of a model that calls tools itself.
    fn native(&mut self, adapter: &dyn Adapter, text: &str) -> ScriptReply {
        match self.below(9) {
            0 => error(LmErrorKind::Overloaded, "busy"),
            1 | 2 => said(adapter, text, self.text()).into(),
            3 => said(adapter, text, "and so on").into(),
            count => {
                let beside = self.below(3) == 0;
                let all: Vec<_> = (0..count.min(6) - 3).map(|_| self.call()).collect();
                calls(beside.then(|| self.text()), all)
            }
        }
    }

    /// A reply of one that writes them.
    fn written(&mut self, text: &str) -> ScriptReply {
        if self.below(9) == 0 {
            return error(LmErrorKind::Overloaded, "busy");
        }
        let calls: Vec<Data> = (0..self.below(3))
            .map(|_| {
                let call = self.call();
                let arguments = serde_json::to_value(&call.arguments).unwrap();
                match self.below(4) {
                    0 => json!({"command": "cat"}),
                    1 => json!({"tool": call.name, "args": arguments}),
                    _ => json!({"name": call.name, "arguments": arguments}),
                }
            })
            .collect();
        // The fallback's format: each step of the others is asked for twice.
        json!({text: self.text(), "tool_calls": calls}).to_string().into()
    }
}

fn said(adapter: &dyn Adapter, field: &str, text: &str) -> String {
    if adapter.name() == "json" { json!({field: text}).to_string() } else { text.to_owned() }
}

fn adapter(at: usize) -> Box<dyn Adapter> {
    match at {
        0 => Box::new(Chat::new()),
        1 => Box::new(Json::new()),
        _ => Box::new(Xml::new()),
    }
}

fn with_adapter(agent: ReAct<Fields>, at: usize) -> ReAct<Fields> {
    match at {
        0 => agent,
        1 => agent.adapter(Json::new()),
        _ => agent.adapter(Xml::new()),
    }
}

/// The calls of a turn have each one result, with its id.
fn is_paired(turn: &Turn) -> bool {
    let texts = |key: &str, id: &str| -> Vec<String> {
        let list = turn.get(key).and_then(Value::as_list).unwrap_or_default();
        let id = |entry: &Value| entry.as_map()?.get(id)?.as_str().map(str::to_owned);
        list.iter().filter_map(id).collect()
    };
    texts("tool_calls", "id") == texts("tool_call_results", "call_id")
}

/// In a request every call is answered by one tool message, right behind it.
fn check_pairs(messages: &[Message]) {
    let mut at = 0;
    while at < messages.len() {
        let ids: Vec<&str> = messages[at].tool_calls.iter().map(|call| &*call.id).collect();
        at += 1;
        for id in &ids {
            assert_eq!(messages[at].role, Role::Tool);
            assert_eq!(messages[at].tool_call_id.as_deref(), Some(*id));
            at += 1;
        }
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
        assert!(at >= messages.len() || messages[at].role != Role::Tool);
    }
}

fn check_body(request: &Request, capabilities: Capabilities) {
    let body: Data = serde_json::from_slice(&encode(request, "m", capabilities).unwrap()).unwrap();
    assert_eq!(violations(&body), [""; 0], "{body:#}");
}

#[test]
fn every_loop_only_grows() {
    let panics = imp::Tool::new("panics", "Breaks.", |(): ()| async {
        if true {
            std::panic::panic_any("broken");
        }
        "never"
    });
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|info| {
        if info.payload().downcast_ref::<&str>() != Some(&"broken") {
            eprintln!("{info}");
        }
    }));
    let (mut grown, mut replayed) = (0, 0);
    for seed in 0..600u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let at = random.below(3);
        let native = random.below(3) > 0;
        let is_text = random.below(2) == 0;
        let signature = if is_text { "intent -> answer" } else { "intent -> answer, confidence: float" };
        let field = if is_text { "answer" } else { "next_thought" };
        let state = Arc::new(Mutex::new(Random(random.0.wrapping_add(77))));
        let script = Script::from_fn(move |request| {
            let mut random = state.lock().unwrap();
            if request.tools.is_empty() && native {
                // The extraction.
                return "{\"reasoning\": \"r\", \"answer\": \"x\", \"confidence\": 1}".into();
            }
            if native { random.native(&*adapter(at), field) } else { random.written(field) }
        });
        let capabilities = Capabilities::default().tools(native);
        let script = script.with_capabilities(capabilities);
        let agent = ReAct::from_spec(line(signature), script.clone(), [look(), panics.clone()])
            .max_iters(4)
            .last_request_note(if random.below(2) == 0 { "Now." } else { "" });
        let agent = with_adapter(agent, at);
        let before = History::from_iter([Turn::from([("intent", "before"), ("answer", "ok")])]);
        let before = if random.below(2) == 0 { before } else { History::new() };
        let inputs = fields(&json!({"intent": random.text()}));
        let call = agent.call(&inputs).history(before).user_name("alice");
        let (done, history) = match imp::lm::block_on(call.into_future()) {
            Ok(done) => (true, done.history().clone()),
            Err(failed) => (false, failed.history().clone()),
        };
        assert!(history.turns().iter().all(is_paired), "seed {seed}: {history:?}");

        let requests = script.requests();
        // Requests of the program's own adapter; a fallback's stand between them.
        let system = requests[0].messages[0].text().into_owned();
        let own: Vec<&Request> =
            requests.iter().filter(|request| request.messages[0].text() == system).collect();
        for request in &requests {
            check_pairs(&request.messages);
            check_body(request, capabilities);
        }
        for pair in own.windows(2) {
            let (first, second) = (&pair[0].messages, &pair[1].messages);
            // Where every request ends with a sentence or a list of tools, that is no part of the conversation.
            let kept = if native && at == 0 { first.len() } else { first.len() - 1 };
            assert_eq!(second[..kept], first[..kept], "seed {seed}");
            grown += usize::from(second.len() > first.len());
        }

        if history.is_empty() {
            // Both requests failed, so nothing was said, and there is nothing to ask without inputs.
            continue;
        }
        // The history that is returned, given to another call, starts with what this call has said.
        let again = Script::from_fn(|_| error(LmErrorKind::ContentFilter, "no more"));
        let next = ReAct::from_spec(
            line(signature),
            again.clone().with_capabilities(capabilities),
            [look(), panics.clone()],
        );
        let next = with_adapter(next, at);
        let data: Data = history.dump().unwrap();
        let loaded = History::load(&data).unwrap();
        assert_eq!(loaded, history);
        let nothing = Fields::from(Map::new());
        let call = next.call(&nothing).history(loaded);
        imp::lm::block_on(call.into_future()).unwrap_err();
        let replay = again.requests();
        let (last, replay) = (&own[own.len() - 1].messages, &replay[0].messages);
        let kept = if native && at == 0 { last.len() } else { last.len() - 1 };
        // The inputs of a call that failed at once were never recorded, and an extraction is another prompt.
        if requests.len() == own.len() && done {
            assert_eq!(replay[..kept], last[..kept], "seed {seed}");
            replayed += 1;
        }
    }
    std::panic::set_hook(hook);
    println!("{grown} requests grew, {replayed} histories were replayed");
    assert!(grown > 500 && replayed > 200, "{grown} {replayed}");
}
