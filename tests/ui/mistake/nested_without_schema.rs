use imp::Signature;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Item {
    name: String,
}

#[derive(Signature)]
struct Order {
    items: Vec<Item>,
    first: Option<Item>,
}

fn main() {}
