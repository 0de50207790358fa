use imp::Signature;

#[derive(serde::Serialize, serde::Deserialize)]
struct Team(String);

#[derive(Signature)]
#[signature(output = Route)]
struct Ticket {
    ticket: String,
}

#[derive(Signature)]
struct Route {
    team: Option<Team>,
}

fn needs<S: Signature>() {}

fn main() {
    needs::<Ticket>();
}
