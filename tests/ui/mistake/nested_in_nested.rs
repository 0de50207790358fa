use imp::Signature;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

struct Price(u32);

#[derive(Serialize, Deserialize, JsonSchema)]
struct Item {
    price: Price,
}

#[derive(Signature)]
struct Order {
    item: Item,
}

fn main() {}
