use imp::Signature;

#[derive(Signature)]
struct Route {
    team: String,
    #[field(rename = "team")]
    squad: String,
    #[serde(alias = "squad", alias = "reply")]
    reply: String,
    #[serde(alias = "squad")]
    note: String,
}

fn main() {}
