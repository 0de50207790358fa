use imp::Signature;

fn main() {
    #[derive(Signature)]
    #[signature(output = Route)]
    struct Ticket<'a> {
        #[field(rename = "team")]
        squad: &'a str,
    }

    #[derive(Signature)]
    #[signature(rename_all = "lowercase")]
    struct Route {
        team: String,
    }
}
