use imp::tool;

#[tool(nmae = "a")]
async fn near() {}

#[tool(desc = "Look up.")]
async fn alias() {}

#[tool(timeout = 5)]
async fn hint() {}

#[tool(colour)]
async fn far() {}

#[tool(name = 5)]
async fn wrong_value() {}

#[tool(name)]
async fn no_value() {}

#[tool(name = "a", name = "b")]
async fn twice() {}

fn main() {
    near_tool();
}
