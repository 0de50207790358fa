use imp::Signature;

#[derive(Signature)]
#[signature(output = Route)]
struct Ticket {
    ticket: String,
    reply: String,
}

#[derive(Signature)]
struct Route {
    team: String,
    reply: String,
}

fn main() {}
