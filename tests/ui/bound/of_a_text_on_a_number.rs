use imp::Signature;

#[derive(Signature)]
struct Route {
    #[field(pattern = "^[0-9]+$")]
    priority: u8,
    #[field(answer_shape = numeric_span)]
    count: u32,
}

fn main() {}
