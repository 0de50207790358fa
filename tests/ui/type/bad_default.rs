use imp::Signature;

struct Opaque;

#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
enum Team {
    Atlas,
}

#[derive(Signature)]
struct Route {
    #[field(default = "five")]
    priority: u8,
    #[field(default = 1)]
    score: f64,
    #[field(default)]
    team: Team,
    #[field(default = Opaque)]
    reply: String,
}

fn main() {}
