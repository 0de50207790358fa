use imp::Signature;

#[derive(Signature)]
struct Route {
    #[field(min = 5, max = 4)]
    priority: u8,
    #[field(gt = 0.5, lt = 0.5)]
    score: f64,
    #[field(min_length = 3, max_length = 2)]
    reply: String,
    #[field(multiple_of = 0)]
    count: u8,
}

fn main() {}
