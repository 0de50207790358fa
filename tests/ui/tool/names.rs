use imp::tool;

#[tool(name = "look up")]
async fn look() {}

#[tool]
async fn größe() {}

fn main() {
    look_tool();
    größe_tool();
}
