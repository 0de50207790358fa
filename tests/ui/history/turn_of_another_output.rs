use imp::{Signature, Turn};

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
    let _ = Turn::of(&Ticket { ticket: "…".into() }, &Summary { text: "…".into() });
}
