use imp::Signature;

#[derive(Signature)]
#[signature(rename_all)]
struct Route {
    #[field(desc)]
    team: String,
    #[field(min, rename = )]
    priority: u8,
}

fn main() {}
