use imp::{Predict, Script, Signature};

#[derive(Signature)]
struct Ticket {
    ticket: String,
}

fn main() {
    let _ = Predict::<Ticket>::new(Script::new(["…"]));
}
