use imp::Signature;

#[derive(Signature)]
#[signature(output = Route)]
struct Ticket {
    ticket: String,
}

struct Route {
    team: String,
}

fn main() {}
