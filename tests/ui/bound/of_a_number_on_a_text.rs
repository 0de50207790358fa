use imp::Signature;

#[derive(Signature)]
struct Route {
    #[field(min = 1, max = 4)]
    team: String,
    #[field(desc = "yes?", gt = 0)]
    open: Option<bool>,
}

fn main() {}
