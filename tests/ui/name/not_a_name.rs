use imp::Signature;

#[derive(Signature)]
struct Route {
    größe: u8,
    #[field(rename = "two words")]
    team: String,
    #[serde(rename = "1st", alias = "")]
    first: String,
}

fn main() {}
