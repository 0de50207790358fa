use imp::Signature;

#[derive(Signature)]
#[signature(output = Route)]
struct Ticket {
    #[field(text_field)]
    ticket: String,
    #[field(answer_shape = yes_no)]
    urgent: String,
}

#[derive(Signature)]
struct Route {
    team: String,
}

fn main() {}
