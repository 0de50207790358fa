use imp::Signature;

#[derive(Signature)]
#[signature(output = Answer)]
struct Ask {
    question: String,
}

#[derive(Signature)]
#[signature(output = Ask)]
struct Answer {
    answer: String,
}

fn main() {}
