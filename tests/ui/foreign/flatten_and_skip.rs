use imp::Signature;

#[derive(Signature)]
struct Route {
    #[serde(flatten)]
    team: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    reply: String,
    #[serde(skip)]
    cache: u8,
}

fn main() {}
