use imp::Signature;

#[derive(Signature)]
struct Answer {
    #[field(max = 300)]
    level: u8,
    #[field(min = -1)]
    other: u32,
    #[field(default = 9, max = 4)]
    part: i64,
    #[field(default = "abc", max_length = 2)]
    text: String,
    #[field(pattern = "(")]
    block: String,
    #[field(gt = 1, lt = 2)]
    none: u8,
    #[field(default = 300)]
    big: u8,
}

fn main() {}
