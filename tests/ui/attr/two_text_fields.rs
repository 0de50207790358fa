use imp::Signature;

#[derive(Signature)]
struct Route {
    #[field(text_field)]
    reply: String,
    #[field(text_field)]
    note: String,
}

fn main() {}
