use imp::Signature;

const LEAST: u8 = 5;
const MOST: u8 = 4;
const NONE: u8 = 0;
const BELOW: i8 = -1;

#[derive(Signature)]
struct Answer {
    #[field(gt = 1, lt = 2)]
    between: u8,
    #[field(gt = 1, lt = 2)]
    fine: f64,
    #[field(min = 6, max = 9, multiple_of = 5)]
    multiple: u8,
    #[field(min = LEAST, max = MOST)]
    constants: u8,
    #[field(min = 0.5, max = 0.25)]
    float: f64,
    #[field(multiple_of = NONE)]
    zero: u8,
    #[field(max_length = BELOW)]
    length: String,
    #[field(max = f64::NAN)]
    nan: f64,
    #[field(min_length = LEAST, max_length = MOST)]
    text: String,
}

fn main() {}
