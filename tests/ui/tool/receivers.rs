use imp::tool;

struct Log;

impl Log {
    #[tool]
    async fn by_value(self) {}

    #[tool]
    async fn exclusive(&mut self) {}
}

fn main() {}
