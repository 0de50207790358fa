use imp::Signature;

#[derive(Signature)]
#[serde(renmae_all = "camelCase")]
struct Route {
    #[serde(renam = "squad")]
    team: String,
    #[schemars(range(mim = 1))]
    priority: u8,
    #[schemars(inner(length(min = 1)))]
    parts: Vec<String>,
}

fn main() {}
