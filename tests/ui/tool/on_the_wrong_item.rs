use imp::tool;

#[tool]
struct Look;

#[tool]
async unsafe fn danger() {}

fn main() {}
