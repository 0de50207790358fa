use imp::tool;

#[tool]
fn look(query: String) -> String {
    query
}

fn main() {
    look_tool();
}
