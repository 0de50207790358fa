// Without `output = …` a struct is an output; it is reported where it is used as an input.
use imp::Signature;

#[derive(Signature)]
struct Ask {
    q: String,
}

fn format<I: Signature>(_: &I) {}

fn main() {
    format(&Ask { q: String::new() });
}
