use imp::Signature;

#[derive(Signature)]
struct Answer {
    #[field(pattern = "(")]
    open: String,
    #[field(pattern = "^[A-Z]{3}$")]
    fine: String,
    #[schemars(regex(pattern = r"(?=ahead)"))]
    ahead: Option<String>,
}

fn main() {}
