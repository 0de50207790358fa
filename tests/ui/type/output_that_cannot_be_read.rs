use imp::Signature;
use schemars::JsonSchema;

#[derive(serde::Serialize, JsonSchema)]
struct Team(String);

#[derive(Signature)]
struct Route {
    team: Team,
    reply: &'static str,
}

fn main() {}
