use imp::Signature;

#[derive(Signature)]
#[signature(output = Anwser)]
struct Ask {
    question: String,
}

#[derive(Signature)]
struct Answer {
    answer: String,
}

fn main() {}
