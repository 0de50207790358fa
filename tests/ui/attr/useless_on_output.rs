use imp::Signature;

#[derive(Signature)]
#[signature(instructions = "Route the ticket.")]
struct Route {
    team: String,
}

fn main() {}
