#![deny(unused_must_use)]
use imp::{Predict, Signature, Script};

#[derive(Signature)]
#[signature(output = Answer)]
struct Ask {
    question: String,
}

#[derive(Debug, Signature)]
struct Answer {
    answer: String,
}

async fn one(predict: &Predict<Ask>, ask: &Ask) {
    predict.call(ask);
}
async fn two(predict: &Predict<Ask>, ask: &Ask) -> String {
    predict.call(ask).answer
}
async fn three(predict: &Predict<Ask>, ask: &Ask) -> String {
    predict.call(ask).await.answer
}
async fn four(predict: &Predict<Ask>, ask: &Ask) -> Result<String, imp::Error> {
    Ok(predict.call(ask)?.answer)
}
async fn five(predict: &Predict<Ask>, ask: Ask) -> Result<String, imp::Error> {
    Ok(predict.call(ask).await?.answer)
}
async fn six(predict: &Predict<Ask>, ask: &Ask) -> Result<String, imp::Error> {
    Ok(predict.call(ask).await?.question)
}
async fn seven(predict: &Predict<Ask>) -> Result<String, imp::Error> {
    Ok(predict.call("What?").await?.answer)
}
async fn eight(predict: &Predict<Ask>, ask: &Ask) -> Result<Answer, imp::Error> {
    predict.call(ask).await
}
fn nine() {
    let _ = Predict::<Answer>::new(Script::new(["x"]));
}
fn ten() {
    let _ = Predict::<Ask>::new("gpt-4o");
}
fn main() {}
