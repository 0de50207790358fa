use imp::Signature;

#[derive(Signature)]
#[signature(output = String)]
struct Ask {
    question: String,
}

#[derive(Signature)]
#[signature(output = Vec<Answer>)]
struct Several {
    question: String,
}

#[derive(Signature)]
#[signature(output = "Answer")]
struct Quoted {
    question: String,
}

#[derive(Signature)]
#[signature(output)]
struct Nothing {
    question: String,
}

#[derive(Signature)]
#[signature(output(Answer))]
struct Called {
    question: String,
}

#[derive(Signature)]
struct Answer {
    answer: String,
}

fn main() {}
