use imp::Signature;

#[derive(Signature)]
struct Route {}

fn main() {}
