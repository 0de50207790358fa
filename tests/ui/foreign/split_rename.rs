use imp::Signature;

#[derive(Signature)]
#[serde(rename_all(serialize = "camelCase"))]
struct Route {
    #[serde(rename(serialize = "a", deserialize = "b"))]
    team: String,
}

fn main() {}
