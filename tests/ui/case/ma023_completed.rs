use imp::Signature;

#[derive(Signature)]
#[signature(output = Answer)]
struct Ask {
    instructions: String,
}

#[derive(Signature)]
struct Answer {
    demos: String,
    completed: bool,
}

fn main() {}
