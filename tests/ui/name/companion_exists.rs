use imp::Signature;

#[derive(Signature)]
#[signature(partial = RouteDraft)]
struct Route {
    team: String,
}

struct RoutePartial;

fn main() {
    let _ = (RoutePartial, RouteDraft { taem: None });
}
