use imp::Signature;

#[derive(Signature)]
#[serde(transparent)]
struct Route {
    team: String,
}

fn main() {}
