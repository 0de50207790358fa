use imp::Signature;

#[derive(Signature)]
#[signature(rename_all = "camelCase")]
#[signature(rename_all = "PascalCase")]
struct Route {
    #[field(desc = "one", desc = "two")]
    team: String,
    #[field(min = 1, ge = 2)]
    priority: u8,
    #[field(max = 1)]
    #[field(max = 2)]
    level: u8,
}

fn main() {}
