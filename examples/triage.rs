//! Routes a support ticket to the squad that owns it: two structs, one typed call.
//!
//! ```text
//! cargo run --example triage                          # replays a recorded reply: no key, no network
//! cargo run --example triage -- --prompt              # prints what it sends
//! OPENAI_API_KEY=… cargo run --example triage         # asks OpenAI
//! IMP_BASE_URL=http://127.0.0.1:8080/v1 cargo run --example triage   # asks a server of your own
//! cargo run --example triage -- --reply FILE          # reads the reply in FILE instead
//! ```

use std::env;
use std::error::Error;
use std::fs;
use std::sync::Arc;

use imp::{Config, LanguageModel, OpenAi, Predict, Script, Signature};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Route the support ticket to the squad that owns it.
#[derive(Signature)]
#[signature(output = Route)]
struct Ticket {
    /// The customer's message, verbatim.
    ticket: String,
    #[field(default = "free")]
    plan: String,
}

#[derive(Debug, Signature)]
struct Route {
    /// Who owns it.
    team: Team,
    /// 1 is the most urgent.
    #[field(min = 1, max = 4)]
    priority: u8,
    /// One sentence to the customer.
    reply: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Team {
    /// invoices and refunds
    Billing,
    /// outages and slowness
    Platform,
    /// sign-in and access
    Identity,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let router = Predict::<Ticket>::new(model(&arguments)?)
        .demo(
            ticket("I was charged twice this month.", "pro"),
            Route {
                team: Team::Billing,
                priority: 2,
                reply: "We are sorry about the double charge and will refund one of them today.".into(),
            },
        )
        .demo(
            ticket("Nobody in our company can log in since this morning.", "free"),
            Route {
                team: Team::Identity,
                priority: 1,
                reply: "We see the login trouble and are working on it right now.".into(),
            },
        )
        .config(Config::new().temperature(0.0).max_tokens(200));

    let ticket = ticket("I cannot sign in on my new phone.", "pro");
    if arguments.iter().any(|argument| argument == "--prompt") {
        for message in router.messages(&ticket)? {
            println!("--- {}\n{}", message.role.as_str(), message.text());
        }
        return Ok(());
    }

    let route = router.call(&ticket).await?;
    println!("team      {:?}", route.team);
    println!("priority  {}", route.priority);
    println!("reply     {}", route.reply);
    Ok(())
}

fn ticket(ticket: &str, plan: &str) -> Ticket {
    Ticket { ticket: ticket.into(), plan: plan.into() }
}

/// The model that the environment names, else one that repeats what a real model once replied.
fn model(arguments: &[String]) -> Result<Arc<dyn LanguageModel>, Box<dyn Error>> {
    let file = arguments.iter().position(|argument| argument == "--reply").map(|at| arguments.get(at + 1));
    if let Some(file) = file {
        let file = file.ok_or("--reply needs the name of a file")?;
        let reply = fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
        return Ok(Arc::new(Script::from_fn(move |_| reply.clone())));
    }
    if let Ok(url) = env::var("IMP_BASE_URL") {
        let model = env::var("IMP_MODEL").unwrap_or_else(|_| "local".into());
        return Ok(Arc::new(OpenAi::new(model).base_url(url)));
    }
    if env::var("OPENAI_API_KEY").is_ok() {
        return Ok(Arc::new(OpenAi::from_env()?));
    }
    eprintln!("no OPENAI_API_KEY and no IMP_BASE_URL: replaying a recorded reply of SmolLM2-135M-Instruct");
    Ok(Arc::new(Script::from_fn(|_| include_str!("recorded/triage.txt"))))
}
