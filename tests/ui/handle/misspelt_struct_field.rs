use imp::Signature;

#[derive(Signature)]
#[signature(output = Route)]
struct Ticket {
    ticket: String,
}

#[derive(Signature)]
struct Route {
    team: String,
}

fn main() {
    let ticket = Ticket { tikcet: String::new() };
    let _ = ticket;
}
