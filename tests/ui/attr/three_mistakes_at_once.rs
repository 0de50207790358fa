use imp::Signature;

#[derive(Signature)]
#[signature(instructions = "Route it.")]
struct Route {
    #[field(defualt = "atlas", text_feild)]
    team: String,
    completed: bool,
}

// And none because of them.
fn main() {
    let _ = Route::FIELDS.completed;
    let _ = RoutePartial::default().complete();
    let _ = <Route as imp::OutputSignature>::output_spec();
}
