use imp::Signature;

#[derive(Signature)]
#[signature(output = Route)]
struct Ticket {
    completed: bool,
}

#[derive(Signature)]
struct Route {
    #[field(rename = "completed")]
    done: bool,
}

fn main() {}
