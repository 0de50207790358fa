use imp::Signature;

#[derive(Signature)]
#[signature(rename_all = "kebab-case")]
struct Route {
    team: String,
    due_date: String,
    sent_by: String,
}

fn main() {}
