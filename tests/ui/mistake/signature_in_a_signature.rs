use imp::Signature;

#[derive(Signature)]
struct Route {
    team: String,
}

#[derive(Signature)]
struct Answer {
    routes: Vec<Route>,
}

fn main() {}
