// Without `output = …` a struct is an output; it is reported where it is used as an input.
use imp::{Chat, Signature};

#[derive(Signature)]
struct Ask {
    q: String,
}

fn main() {
    let _ = Chat::new().format(&Ask { q: String::new() });
}
