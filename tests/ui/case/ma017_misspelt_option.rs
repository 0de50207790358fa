use imp::Signature;

#[derive(Signature)]
#[signature(output = Answer)]
struct Ask {
    q: String,
}

#[derive(Signature)]
struct Answer {
    #[field(dsc = "x")]
    a: String,
}

fn main() {}
