use imp::Signature;

#[derive(Signature)]
#[signature(output = Route)]
struct Ticket(String, u8);

#[derive(Signature)]
struct Route {
    team: String,
}

fn needs<S: Signature>() {}

fn main() {
    needs::<Ticket>();
}
