use imp::Signature;

#[derive(Signature)]
#[field(desc = "a route")]
struct Route {
    #[signature(rename_all = "camelCase")]
    team: String,
    #[field]
    reply: String,
}

fn main() {}
