use imp::Signature;
use schemars::JsonSchema;

#[derive(serde::Serialize, JsonSchema)]
struct Team(String);

struct Opaque;

#[derive(Signature)]
struct Route {
    team: Team,
    parts: Vec<Opaque>,
    reply: &'static str,
}

fn main() {}
