use imp::Signature;

#[derive(Signature)]
struct Route {
    #[field(dsc = "the squad")]
    team: String,
    #[field(description = "to the customer")]
    reply: String,
}

fn main() {
    let _ = Route::FIELDS.team;
}
