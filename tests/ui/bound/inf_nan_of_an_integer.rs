use imp::Signature;

#[derive(Signature)]
struct Route {
    #[field(allow_inf_nan)]
    priority: i64,
}

fn main() {}
