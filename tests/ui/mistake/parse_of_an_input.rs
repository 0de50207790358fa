use imp::{Chat, Signature};

#[derive(Signature)]
#[signature(output = Answer)]
struct Ask {
    question: String,
}

#[derive(Signature)]
struct Answer {
    answer: String,
}

fn main() {
    let _ = Chat::new().parse::<Ask>("x");
    let _ = Chat::new().format(&Answer { answer: String::new() });
}
