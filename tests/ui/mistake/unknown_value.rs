use imp::Signature;

#[derive(Signature)]
#[signature(dialect = openai, rename_all = "snake-case", output = "Route")]
struct Ask {
    #[field(allow_inf_nan = 1)]
    float: f64,
    #[field(pattern = 3)]
    text: String,
    #[field(max_length = "3")]
    length: String,
}

fn main() {}
