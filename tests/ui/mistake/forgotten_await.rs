#![deny(unused_must_use)]
use imp::{Predict, Signature};

#[derive(Signature)]
#[signature(output = Answer)]
struct Ask {
    question: String,
}

#[derive(Signature)]
struct Answer {
    answer: String,
}

async fn run(predict: &Predict<Ask>, ask: &Ask) {
    predict.call(ask);
}

fn main() {
    let _ = run;
}
