use imp::Signature;

const MOST: u8 = 4;
const NAME: &str = "4";

#[derive(Signature)]
struct Answer {
    #[field(max = 3 + 1)]
    level: u8,
    #[field(max = MOST + 1)]
    other: u8,
    #[field(max = 1.0 / 2.0)]
    part: f64,
    #[field(max = NAME)]
    text: u8,
    #[field(max = { 3 })]
    block: u8,
    #[field(max_length = 1 << 4)]
    long: String,
    #[field(max = 5 / 0)]
    zero: u8,
    #[field(max = true)]
    switch: u8,
    #[field(max = Self::MOST)]
    own: u8,
    #[field(max = missing())]
    missing: u8,
}
impl Answer { const MOST: u8 = 3; }

fn main() {}
