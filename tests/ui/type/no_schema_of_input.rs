use imp::Signature;

#[derive(serde::Serialize)]
struct Plan(u8);

#[derive(Signature)]
#[signature(output = Route)]
struct Ticket<'a> {
    plans: Vec<Plan>,
    same: &'a Plan,
}

#[derive(Signature)]
struct Route {
    team: String,
}

fn needs<S: Signature>(_: &S) {}

// One mistake, one error: neither for each field nor here.
fn main() {
    let ticket = Ticket { plans: Vec::new(), same: &Plan(1) };
    needs(&ticket);
}
