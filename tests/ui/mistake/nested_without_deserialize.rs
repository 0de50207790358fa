use imp::Signature;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Serialize, JsonSchema)]
struct Item {
    name: String,
}

#[derive(Signature)]
struct Order {
    item: Item,
}

fn main() {}
