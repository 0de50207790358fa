use imp::Signature;

// Read as what was meant, so that this is the only error.
#[derive(Signature)]
#[signature(ouput = Route)]
struct Ticket<'a> {
    ticket: &'a str,
}

#[derive(Signature)]
struct Route {
    team: String,
}

fn needs<S: Signature>() {}

fn main() {
    needs::<Ticket<'_>>();
}
