use imp::Signature;

#[derive(Signature)]
struct Route {
    team: String,
    reply: String,
}

fn main() {
    let _ = Route::FIELDS.reply;
    let _ = Route::FIELDS.repyl;
}
