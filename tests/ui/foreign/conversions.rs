use imp::Signature;

#[derive(Signature)]
struct Route {
    #[serde(with = "dates")]
    due: String,
    #[serde(deserialize_with = "read")]
    team: String,
    #[schemars(schema_with = "schema")]
    reply: String,
}

fn main() {}
