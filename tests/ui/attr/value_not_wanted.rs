use imp::Signature;

#[derive(Signature)]
struct Route {
    #[field(text_field = true)]
    team: String,
}

fn main() {}
