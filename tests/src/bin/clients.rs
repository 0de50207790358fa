//! Runs the clients against a server that is there, for `scripts/`:
//!
//! * `clients call URL [--stream]`: one call, and what came of it;
//! * `clients load URL CALLS IN_FLIGHT`: so many calls, every second one streamed, every one accounted for;
//! * `clients local URL`: chat completions and Messages, whole and streamed, as a real model answers them.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use imp::lm::wire::Delta;
use imp::lm::{Anthropic, Retries, StreamEvent};
use imp::{
    Completion, Config, LanguageModel, LmError, LmErrorKind, Message, OpenAi, Request, ToolChoice,
    ToolDefinition,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args.as_slice() {
        ["call", url] => call(url, false).await,
        ["call", url, "--stream"] => call(url, true).await,
        ["load", url, calls, in_flight] => match (calls.parse(), in_flight.parse()) {
            (Ok(calls), Ok(in_flight)) => load(url, calls, in_flight).await,
            _ => return usage(),
        },
        ["local", url] => local(url).await,
        _ => return usage(),
    };
    if done { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn usage() -> ExitCode {
    eprintln!("usage: clients call URL [--stream] | load URL CALLS IN_FLIGHT | local URL");
    ExitCode::from(2)
}

/// The reply, and the text that was shown on the way.
async fn streamed(model: &impl LanguageModel, request: &Request) -> Result<(Completion, String), LmError> {
    let mut stream = model.stream(request).await?;
    let mut shown = String::new();
    while let Some(event) = stream.next().await {
        match event? {
            StreamEvent::Delta(Delta::Text { text, .. }) => shown.push_str(&text),
            StreamEvent::Done(completion) => return Ok((completion, shown)),
            _ => {}
        }
    }
    unreachable!("a stream ends with a reply or an error")
}

async fn call(url: &str, stream: bool) -> bool {
    let model = OpenAi::new("mock").base_url(url).key("sk-not-needed").idle_timeout(Duration::from_secs(1));
    // The server tells calls apart by their bodies.
    let request = Request::new([Message::user(format!("call {:?}", std::time::SystemTime::now()))]);
    let mut result = if stream {
        streamed(&model, &request).await.map(|(completion, _)| completion)
    } else {
        model.complete(&request).await
    };
    // A client takes back nothing that it has shown; who shows it may, and asks again.
    if result.as_ref().is_err_and(|error| error.kind() == LmErrorKind::CutOff) {
        print!("cut off, asked for again; ");
        result = streamed(&model, &request).await.map(|(completion, _)| completion);
    }
    match result {
        Ok(completion) => println!("answered: {:?}", completion.text().unwrap_or_default()),
        Err(error) => println!("{}: {error}", error.kind().as_str()),
    }
    true
}

async fn load(url: &str, calls: usize, in_flight: usize) -> bool {
    let model = OpenAi::new("mock").base_url(url).key("sk-not-needed").max_in_flight(in_flight);
    let model = Arc::new(model.retries(Retries::new().first_wait(Duration::from_millis(20))));
    let next = Arc::new(AtomicUsize::new(0));
    let started = Instant::now();
    let workers: Vec<_> = (0..in_flight)
        .map(|_| {
            let (model, next) = (Arc::clone(&model), Arc::clone(&next));
            tokio::spawn(async move {
                let mut outcomes = BTreeMap::<&'static str, usize>::new();
                let mut early = 0;
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= calls {
                        return (outcomes, early);
                    }
                    if number == calls.min(5000) {
                        early = peak();
                    }
                    let request = Request::new([Message::user(format!("hello {number}"))]);
                    let outcome = if number % 2 == 0 {
                        model.complete(&request).await.map(|completion| completion.text().is_some())
                    } else {
                        let result = streamed(&*model, &request).await;
                        result.map(|(completion, shown)| completion.text() == Some(&shown))
                    };
                    *outcomes
                        .entry(match outcome {
                            Ok(true) => "answered",
                            Ok(false) => "answered wrong",
                            Err(error) => error.kind().as_str(),
                        })
                        .or_default() += 1;
                }
            })
        })
        .collect();
    let mut outcomes = BTreeMap::<_, usize>::new();
    let mut early = 0;
    for worker in workers {
        match worker.await {
            Ok((counts, peak)) => {
                early = early.max(peak);
                for (outcome, count) in counts {
                    *outcomes.entry(outcome).or_default() += count;
                }
            }
            Err(error) => println!("a worker failed: {error}"),
        }
    }
    let (seconds, late) = (started.elapsed().as_secs_f64(), peak());
    for (outcome, count) in &outcomes {
        println!("{count:7} {outcome}");
    }
    let counted: usize = outcomes.values().sum();
    println!("{counted} of {calls} calls accounted for in {seconds:.1} s");
    println!("peak of memory: {early} kB after the first 5,000 calls, {late} kB at the end");
    let flat = early == 0 || late * 10 <= early * 11;
    counted == calls && flat && !outcomes.contains_key("answered wrong")
}

/// The most memory that this process had, in kB; 0 where the system does not say.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

async fn local(url: &str) -> bool {
    let request = Request::new([
        Message::system("You answer briefly."),
        Message::user("What is the capital of France?").named("alice"),
    ])
    .config(Config::new().max_tokens(24).temperature(0.0));
    let chat = OpenAi::new("local").base_url(url);
    let messages = Anthropic::new("local").base_url(url);
    let mut good = true;
    good &= both("chat completions", &chat, &request).await;
    good &= both("Messages", &messages, &request).await;
    let schema = serde_json::json!({"type": "object", "properties": {"city": {"type": "string", "maxLength": 20}},
        "required": ["city"], "additionalProperties": false});
    if let Ok(tool) = ToolDefinition::new("get_weather", "The weather of a city.", schema) {
        let config = Config::new().max_tokens(64).temperature(0.0).tool_choice(ToolChoice::Required);
        let request =
            Request::new([Message::user("What is the weather in Paris?")]).config(config).tools([tool]);
        // A template without tools answers in text: what counts is that both ways say the same.
        good &= both("chat completions with a tool", &chat, &request).await;
        good &= both("Messages with a tool", &messages, &request).await;
    }
    good
}

async fn both(what: &str, model: &impl LanguageModel, request: &Request) -> bool {
    let whole = model.complete(request).await;
    let stream = streamed(model, request).await;
    match (whole, stream) {
        (Ok(whole), Ok((completion, shown))) => {
            let choice = &whole.choices[0];
            let calls: Vec<_> = choice.tool_calls.iter().map(|call| (&call.name, &call.arguments)).collect();
            println!("{what}: {:?} {calls:?} {:?} {:?}", choice.text, choice.finish_reason, whole.usage);
            let streamed = &completion.choices[0];
            let same = |other: &imp::Choice| {
                let calls: Vec<_> =
                    other.tool_calls.iter().map(|call| (&call.name, &call.arguments)).collect();
                (other.text.clone().unwrap_or_default(), format!("{calls:?}"), other.finish_reason.clone())
            };
            let good = same(choice) == same(streamed) && shown == streamed.text.clone().unwrap_or_default();
            println!("{what}, streamed: {}", if good { "the same" } else { "something else" });
            if !good {
                println!("{streamed:?}");
            }
            good
        }
        (whole, stream) => {
            println!("{what}: {:?}; streamed: {:?}", whole.map(|_| "answered"), stream.map(|_| "answered"));
            false
        }
    }
}
