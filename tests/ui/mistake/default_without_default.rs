use imp::Signature;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, JsonSchema)]
enum Team { A, B }

#[derive(Signature)]
struct Answer {
    #[field(default)]
    team: Team,
    #[field(default = "A")]
    other: Team,
    #[field(default = "3")]
    number: u8,
    #[field(default = 3)]
    text: String,
    #[field(default = 3)]
    maybe: Option<u8>,
    #[field(default = None)]
    none: Option<u8>,
    #[field(default = "x")]
    list: Vec<String>,
}

fn main() {}
