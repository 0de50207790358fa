//! A tool that ends the loop returns all outputs.

use imp::{Finish, ReAct, Script, Signature};

#[derive(Signature)]
#[signature(output = Sent)]
struct Mail {
    text: String,
}

#[derive(Signature)]
struct Sent {
    id: String,
    urgent: bool,
}

fn main() {
    let agent = ReAct::<Mail>::new(Script::new(["x"]), []);
    agent.finish_on("send", |_, _, _| Finish::With(Sent { id: "m-7".into() }));
}
