use imp::Signature;

#[derive(Signature)]
struct Answer {
    #[input]
    question: String,
    #[output]
    answer: String,
    #[field(prefix = "Answer:")]
    text: String,
    #[field(required)]
    must: String,
    #[field(default = "x", default = "y")]
    twice: String,
    #[field("the answer")]
    bare: String,
    #[field = "x"]
    eq: String,
    #[field()]
    nothing: String,
    #[field(desc("x"))]
    call: String,
    #[field(enum = "a")]
    keyword: String,
}

#[derive(Signature)]
#[signature = "question -> answer"]
struct Other { a: String }

#[derive(Signature)]
#[signature("question -> answer")]
struct Third { a: String }

fn main() {}
