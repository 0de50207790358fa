use imp::Signature;

#[derive(Signature)]
struct Answer {
    #[field(default = 9, max = 4)]
    number: i64,
    #[field(default = Some(9), lt = 9)]
    optional: Option<u8>,
    #[field(default = -0.5, min = 0)]
    float: f64,
    #[field(default = 7, multiple_of = 5)]
    multiple: u8,
    #[field(default = "größe", max_length = 4)]
    text: String,
    #[field(default = "abc", pattern = "^[0-9]+$")]
    digits: String,
    #[field(default = "größe", max_length = 5, min = 0)]
    both: String,
}

fn main() {}
