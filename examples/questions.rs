//! Asks a small model sixteen questions and counts the requests: what the fallback is for.
//!
//! ```text
//! cargo run --example questions                                     # replays recorded replies
//! cargo run --example questions -- --demos                          # the same with two demos in the prompt
//! cargo run --example questions -- --demos --dspy                   # and in DSPy's wording
//! scripts/local-model.sh cargo run --example questions              # asks a real model
//! scripts/local-model.sh cargo run --example questions -- --record  # prints its replies as JSON, to be replayed
//! ```

use std::env;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

use imp::lm::BoxFuture;
use imp::{
    Capabilities, Chat, Completion, Config, Dialect, LanguageModel, LmError, OpenAi, Predict, Request,
    Script, Signature,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Answer the question and say what kind of question it is.
#[derive(Signature)]
#[signature(output = Verdict)]
struct Question {
    question: String,
}

#[derive(Debug, Signature)]
struct Verdict {
    answer: String,
    kind: Kind,
    confidence: f64,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Fact,
    Opinion,
    Arithmetic,
}

const QUESTIONS: [&str; 16] = [
    "What is the capital of France?",
    "How many legs has a spider?",
    "Is the sun a star?",
    "Name a fruit.",
    "Who wrote Hamlet?",
    "What is 2 + 2?",
    "What colour is grass?",
    "Which is bigger, a cat or an elephant?",
    "What do bees make?",
    "Name a planet.",
    "Is tea better than coffee?",
    "What is 10 - 7?",
    "Where do fish live?",
    "What is ice made of?",
    "How many days are in a week?",
    "Is it nice to be polite?",
];

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let has = |flag: &str| env::args().any(|argument| argument == flag);
    let recorded = match (has("--demos"), has("--dspy")) {
        (false, false) => include_str!("recorded/questions.json"),
        (true, false) => include_str!("recorded/questions_demos.json"),
        (false, true) => include_str!("recorded/questions_dspy.json"),
        (true, true) => include_str!("recorded/questions_demos_dspy.json"),
    };
    let model: Arc<dyn LanguageModel> = if let Ok(url) = env::var("IMP_BASE_URL") {
        Arc::new(OpenAi::new("local").base_url(url))
    } else {
        eprintln!("no IMP_BASE_URL: replaying recorded replies of SmolLM2-135M-Instruct");
        Arc::new(Script::new(serde_json::from_str::<Vec<String>>(recorded)?))
    };
    let model = Recorder::new(model);

    let mut program =
        Predict::<Question>::new(model.clone()).config(Config::new().temperature(0.0).max_tokens(160));
    if has("--dspy") {
        program = program.adapter(Chat::new().dialect(Dialect::Dspy));
    }
    if has("--demos") {
        program = program
            .demo(question("What is the capital of Italy?"), answer("Rome", Kind::Fact, 0.9))
            .demo(question("What is 3 + 4?"), answer("7", Kind::Arithmetic, 1.0));
    }

    let mut answered = 0;
    for text in QUESTIONS {
        let before = model.replies().len();
        let line = match program.call(&question(text)).await {
            Ok(answer) => {
                answered += 1;
                format!("{:?} {:?} {}", answer.answer, answer.kind, answer.confidence)
            }
            Err(error) => format!("error: {}", error.to_string().lines().next().unwrap_or_default()),
        };
        if !has("--record") {
            println!("{} {text}  {line}", model.replies().len() - before);
        }
    }
    if has("--record") {
        println!("{}", serde_json::to_string_pretty(&model.replies())?);
    } else {
        println!("{answered} answers in {} requests", model.replies().len());
    }
    Ok(())
}

fn question(question: &str) -> Question {
    Question { question: question.into() }
}

fn answer(answer: &str, kind: Kind, confidence: f64) -> Verdict {
    Verdict { answer: answer.into(), kind, confidence }
}

/// A model that keeps the replies of another.
#[derive(Clone)]
struct Recorder {
    model: Arc<dyn LanguageModel>,
    replies: Arc<Mutex<Vec<String>>>,
}

impl Recorder {
    fn new(model: Arc<dyn LanguageModel>) -> Self {
        Recorder { model, replies: Arc::default() }
    }

    fn replies(&self) -> Vec<String> {
        self.replies.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl LanguageModel for Recorder {
    fn complete<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Completion, LmError>> {
        Box::pin(async move {
            let completion = self.model.complete(request).await?;
            let text = completion.text().unwrap_or_default().to_owned();
            self.replies.lock().unwrap_or_else(PoisonError::into_inner).push(text);
            Ok(completion)
        })
    }

    fn model(&self) -> &str {
        self.model.model()
    }

    fn capabilities(&self) -> Capabilities {
        self.model.capabilities()
    }
}
