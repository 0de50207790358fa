use imp::Signature;

#[derive(Signature)]
#[signature(output = Answer)]
struct Ask<T> {
    about: T,
}

#[derive(Signature)]
struct Answer {
    answer: String,
}

fn format<I: Signature>(_: &I) {}

struct Plain;

fn main() {
    format(&Ask { about: 1_u8 });
    format(&Ask { about: Plain });
}
