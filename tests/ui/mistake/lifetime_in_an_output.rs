use imp::Signature;

#[derive(Signature)]
struct Answer<'a> {
    answer: &'a str,
}

#[derive(Signature)]
struct Other {
    answer: &'static str,
    cow: std::borrow::Cow<'static, str>,
    slice: &[u8],
    boxed: Box<dyn std::fmt::Debug>,
    f: fn() -> u8,
}

fn main() {}
