use imp::Signature;

#[derive(Signature)]
struct Route<'a> {
    team: &'a str,
    reply: &'a str,
}

fn main() {}
