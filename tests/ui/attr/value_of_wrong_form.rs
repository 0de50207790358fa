use imp::Signature;

#[derive(Signature)]
#[signature(rename_all = "cammelCase", dialect = dpsy, crate = "imp")]
struct Route {
    #[field(desc = 3, rename = team)]
    team: String,
    #[field(min = "one", max = 1e999)]
    priority: u8,
    #[field(min_length = -1, max_length = 1.5)]
    text: String,
    #[field(answer_shape = yesno)]
    answer: String,
}

fn main() {}
