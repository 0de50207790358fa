//! Rows 127 and 139: a number of steps is a count, and a note is a text.
use imp::{ReAct, Script, Signature};

#[derive(Signature)]
#[signature(output = Answer)]
struct Ask {
    question: String,
}

#[derive(Debug, Signature)]
struct Answer {
    answer: String,
}

fn main() {
    let agent = ReAct::<Ask>::new(Script::new(["x"]), []);
    let _ = agent.clone().max_iters(-1);
    let _ = agent.clone().max_iters("1");
    let _ = agent.last_request_note(7);
}
