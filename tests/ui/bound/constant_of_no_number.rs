use imp::Signature;

const MOST: &str = "4";

#[derive(Signature)]
struct Route {
    #[field(max = MOST)]
    priority: u8,
}

fn main() {}
