use imp::Signature;

#[derive(Signature)]
struct Route {
    #[field(optional)]
    team: String,
    #[field(alias = "answer")]
    reply: String,
}

fn main() {}
