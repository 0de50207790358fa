use imp::Signature;

// Each is reported at the token that fits nowhere, and the other mistakes with it.
#[derive(Signature)]
struct Route {
    #[field(min = low: u8)]
    priority: u8,
    #[field(max = score = 3)]
    score: f64,
    #[field(default = "a" "b")]
    team: String,
    #[field(default = if true { 1 } else { 2 })]
    fine: u8,
}

fn main() {}
