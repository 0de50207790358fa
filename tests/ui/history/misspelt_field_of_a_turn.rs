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

fn main() {
    let _ = Turn::partial::<Ticket>(
        TicketPartial { tikcet: Some("…".into()) },
        RoutePartial { replay: Some("…".into()) },
    );
}
