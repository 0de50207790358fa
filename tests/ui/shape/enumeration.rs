use imp::Signature;

#[derive(Signature)]
enum Team {
    Atlas,
    Harbor,
}

#[derive(Signature)]
#[signature(output = Team)]
struct Ticket {
    ticket: String,
}

fn main() {
    let _ = (Team::Atlas, Team::Harbor);
}
