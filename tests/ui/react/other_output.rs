//! A tool ends the loop with the outputs of its own signature.

use imp::{Finish, ReAct, Script, Signature};

#[derive(Signature)]
#[signature(output = Sent)]
struct Mail {
    text: String,
}

#[derive(Signature)]
struct Sent {
    id: String,
}

#[derive(Signature)]
struct Read {
    id: String,
}

fn main() {
    let agent = ReAct::<Mail>::new(Script::new(["x"]), []);
    agent.finish_on("send", |_, _, _| Finish::With(Read { id: "m-7".into() }));
}
