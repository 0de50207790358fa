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

async fn not_awaited(predict: &Predict<Ask>, ask: &Ask) -> String {
    predict.call(ask).answer
}

async fn not_asked_for_errors(predict: &Predict<Ask>, ask: &Ask) -> String {
    predict.call(ask).await.answer
}

async fn given_away(predict: &Predict<Ask>, ask: Ask) -> Result<String, imp::Error> {
    Ok(predict.call(ask).await?.answer.clone())
}

async fn a_field_of_the_input(predict: &Predict<Ask>, ask: &Ask) -> Result<String, imp::Error> {
    Ok(predict.call(ask).await?.question)
}

async fn a_bare_text(predict: &Predict<Ask>) -> Result<String, imp::Error> {
    Ok(predict.call("What?").await?.answer.clone())
}

fn main() {
    let _ = Predict::<Ask>::new("gpt-4o");
}
