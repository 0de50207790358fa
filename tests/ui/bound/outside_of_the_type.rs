use imp::Signature;

const MOST: u16 = 300;

#[derive(Signature)]
#[signature(output = Answer)]
struct Ask<'a> {
    #[field(max = 300)]
    byte: u8,
    text: &'a str,
}

#[derive(Signature)]
struct Answer {
    #[field(min = -1)]
    unsigned: u32,
    #[field(maximum = 300)]
    optional: Option<u8>,
    #[field(max = MOST)]
    constant: u8,
    #[field(gt = 255)]
    nothing: u8,
    #[field(lt = 256)]
    fine: u8,
    #[field(max = 1e39)]
    single: f32,
    #[field(max = 1e39)]
    double: f64,
    #[schemars(range(max = 200))]
    foreign: i8,
}

fn main() {}
