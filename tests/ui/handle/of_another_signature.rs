use imp::{Field, PartOf, Signature};

#[derive(Signature)]
#[signature(output = Route)]
struct Ticket {
    ticket: String,
}

#[derive(Signature)]
struct Route {
    team: String,
}

#[derive(Signature)]
struct Summary {
    text: String,
}

fn name<S: PartOf<Ticket>, T>(field: Field<S, T>) -> &'static str {
    field.name()
}

fn main() {
    name(Ticket::FIELDS.ticket);
    name(Route::FIELDS.team);
    name(Summary::FIELDS.text);
}
