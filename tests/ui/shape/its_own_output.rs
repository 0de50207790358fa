use imp::Signature;

#[derive(Signature)]
#[signature(output = Ticket)]
struct Ticket {
    ticket: String,
}

fn main() {}
