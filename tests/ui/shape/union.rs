use imp::Signature;

#[derive(Signature)]
union Number {
    whole: i32,
    real: f32,
}

fn main() {}
