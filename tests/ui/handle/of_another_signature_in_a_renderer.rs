use imp::{FormatOptions, Signature};

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
    let _ = FormatOptions::new().output_renderer::<Ticket>(|said| match said.value(Summary::FIELDS.text) {
        Some(_) => said.default_outputs(),
        None => String::new(),
    });
}
