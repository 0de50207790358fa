use imp::Signature;

#[derive(Signature)]
#[signature(output = Answer)]
pub struct Ask {
    pub question: String,
}

#[derive(Signature)]
struct Answer {
    answer: String,
}

fn main() {}
