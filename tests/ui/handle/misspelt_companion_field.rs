use imp::Signature;

#[derive(Signature)]
struct Route {
    team: String,
    reply: String,
}

fn main() {
    let _ = RoutePartial { temm: None, ..Default::default() };
}
