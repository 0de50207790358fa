use imp::{Chat, Signature};

#[signature(output = Answer)]
struct Ask {
    question: String,
}

#[derive(Signature)]
struct Answer {
    answer: String,
}

fn main() {
    let _ = Chat::new().format(&Ask { question: String::new() });
    let _: Answer = Chat::new().parse("x").unwrap();
}
