use imp::Signature;

// Numbers, whatever it takes to write them.
#[derive(Signature)]
struct Fine {
    #[field(max = 3 + 1)]
    sum: u8,
    #[field(max = (24 * 60) - 1)]
    minutes: u16,
    #[field(min = -(1.0 / 2.0), max = 1e3)]
    part: f64,
    #[field(max_length = 1 << 4)]
    long: String,
    #[field(max = { 3 })]
    block: u8,
    #[field(max = MOST + 1)]
    most: u8,
    #[field(max = Self::OWN)]
    own: u8,
    #[field(max = if cfg!(test) { MOST } else { 7 })]
    either: u8,
}

impl Fine {
    const OWN: u8 = 3;
}

const MOST: u8 = 4;
const NAME: &str = "4";

#[derive(Signature)]
struct Wrong {
    #[field(max = 5 / 0)]
    zero: u8,
    #[field(max = 1 + 0.5)]
    mixed: f64,
    #[field(max = true)]
    switch: u8,
    #[field(max = (1, 2))]
    pair: u8,
    #[field(max = NAME)]
    text: u8,
    #[field(max_length = NAME)]
    length: String,
}

fn main() {}
