use imp::Signature;

#[derive(Signature)]
struct Route {
    #[field(zzz)]
    team: String,
}

fn main() {}
