//! An agent with two tools: it looks up the status of a service and who is on call, then submits a typed answer.
//!
//! ```text
//! cargo run --example agent            # a scripted model
//! IMP_LOCAL_MODEL_TEMPLATE=scripts/chatml_force_tools.jinja \
//!     scripts/local-model.sh cargo run --example agent    # a real one, whose calls are forced
//! ```

use std::env;
use std::error::Error;
use std::sync::Arc;

use imp::lm::wire::openai::encode;
use imp::lm::{HttpRequest, Reqwest, ScriptReply, Transport};
use imp::{
    Capabilities, Config, Event, LanguageModel, Map, OpenAi, ReAct, Request, Script, Signature, ToolCall,
    Value, tool,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Find out what is wrong and who looks after it, then answer the customer.
#[derive(Signature)]
#[signature(output = Answer)]
struct Ticket {
    /// The customer's message, verbatim.
    ticket: String,
}

#[derive(Debug, Signature)]
struct Answer {
    /// Who owns the problem.
    team: Team,
    /// One sentence to the customer.
    reply: String,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Team {
    Platform,
    Identity,
}

/// The status of a service.
#[tool]
async fn status(service: Team) -> &'static str {
    match service {
        Team::Platform => "up",
        Team::Identity => "down since 9:40",
    }
}

/// Who is on call.
#[tool]
async fn on_call(team: Team) -> &'static str {
    match team {
        Team::Platform => "Grace",
        Team::Identity => "Ada",
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = env::var("IMP_BASE_URL").ok();
    let model: Arc<dyn LanguageModel> = match &server {
        Some(url) => Arc::new(OpenAi::new("local").base_url(url)),
        None => Arc::new(scripted()),
    };
    let agent = ReAct::<Ticket>::new(model, [status_tool(), on_call_tool()])
        .config(Config::new().temperature(0.0).max_tokens(120))
        // A small model would rather talk.
        .force_calls(server.is_some())
        .max_iters(4)
        .on_event(told);

    let ticket = Ticket { ticket: "I cannot sign in.".into() };
    let done = agent.call(&ticket).user_name("alice").await?;
    match done.outputs() {
        Some(answer) => println!("{:?}: {}", answer.team, answer.reply),
        None => println!("no answer ({:?})", done.cause()),
    }
    println!("{} after {} steps", done.termination().as_str(), done.history().len());
    if let Some(url) = server {
        show_name(&url).await?;
    }
    Ok(())
}

/// What a good model would do.
fn scripted() -> Script {
    let arguments = |entries: &[(&str, &str)]| -> Map {
        entries.iter().map(|(name, value)| (*name, Value::from(*value))).collect()
    };
    Script::new([
        ScriptReply::from(ToolCall::new("1", "status", arguments(&[("service", "identity")]))),
        ScriptReply::from(ToolCall::new("2", "on_call", arguments(&[("team", "identity")]))),
        ScriptReply::from(ToolCall::new(
            "3",
            "submit",
            arguments(&[
                ("team", "identity"),
                ("reply", "Sign-in has been down since 9:40, and Ada is on it."),
            ]),
        )),
    ])
}

fn told(event: &Event<'_>) {
    match event {
        Event::Calling { step, call } => {
            let arguments = serde_json::to_string(&call.arguments).unwrap_or_default();
            println!("{step} {}({arguments})", call.name);
        }
        Event::Called { step, result } => match result.failure() {
            Some(failure) => println!("{step} {failure}"),
            None => println!("{step} -> {}", serde_json::to_string(&result.value).unwrap_or_default()),
        },
        _ => {}
    }
}

/// Asks llama.cpp's server for the prompt that it makes of a request: the participant's name is in it.
async fn show_name(base: &str) -> Result<(), Box<dyn Error>> {
    let request = Request::new([imp::Message::user("I cannot sign in.").named("alice")]);
    let body = encode(&request, "local", Capabilities::default())?;
    let url = format!("{}/apply-template", base.trim_end_matches("/v1"));
    let response = Reqwest::new().send(HttpRequest::new(url, body)).await?;
    let body: serde_json::Value = serde_json::from_slice(&response.into_bytes(1 << 20).await?)?;
    let prompt = body["prompt"].as_str().unwrap_or_default();
    if let Some(line) = prompt.lines().find(|line| line.contains("alice")) {
        println!("the model reads: {line}");
    }
    Ok(())
}
