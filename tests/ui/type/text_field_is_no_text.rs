use imp::Signature;

#[derive(Signature)]
struct Route {
    #[field(text_field)]
    parts: Vec<String>,
}

fn main() {}
