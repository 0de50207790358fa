use imp::tool;

#[tool]
async fn look<T>(query: T) -> T {
    query
}

#[tool]
async fn find(query: impl ToString) -> String {
    query.to_string()
}

fn main() {
    look_tool();
    find_tool();
}
