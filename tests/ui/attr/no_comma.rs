use imp::Signature;

#[derive(Signature)]
struct Route {
    #[field(desc = "the squad" rename = "squad")]
    team: String,
}

fn main() {}
