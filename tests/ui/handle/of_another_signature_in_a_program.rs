use imp::{Predict, Script, Signature};

#[derive(Signature)]
#[signature(output = Route)]
struct Ticket {
    ticket: String,
}

#[derive(Signature)]
struct Route {
    reply: String,
}

#[derive(Signature)]
struct Summary {
    text: String,
}

fn main() {
    let _ = Predict::<Ticket>::new(Script::new(["…"])).describe(Summary::FIELDS.text, "one sentence");
}
