use imp::tool;

#[tool]
async fn borrowed(query: &str) -> String {
    query.to_owned()
}

#[tool]
async fn pattern((a, b): (u8, u8)) -> u8 {
    a + b
}

fn main() {}
