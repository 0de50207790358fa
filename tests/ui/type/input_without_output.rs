use imp::Signature;

#[derive(Signature)]
struct Ticket {
    ticket: String,
}

fn call<I: Signature>(_: I) {}

fn main() {
    call(Ticket { ticket: String::new() });
}
