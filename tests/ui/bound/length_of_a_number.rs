use imp::Signature;

#[derive(Signature)]
#[signature(output = Route)]
struct Ticket<'a> {
    #[field(max_length = 4)]
    count: &'a u8,
}

#[derive(Signature)]
struct Route {
    #[field(min_length = 1)]
    priority: u8,
}

fn main() {}
