use imp::Signature;

#[derive(Signature)]
struct Answer {
    r#completed: String,
    #[field(rename = "r#type")]
    kind: String,
    antwort_für: String,
    #[field(rename = "")]
    empty: String,
    #[field(rename = "a b")]
    space: String,
}

#[derive(Signature)]
#[signature(rename_all = "camelCase")]
struct Other {
    due_date: String,
    #[field(rename = "dueDate")]
    other: String,
}

fn main() {}
