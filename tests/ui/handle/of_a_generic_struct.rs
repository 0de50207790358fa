use imp::Signature;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Signature)]
#[signature(output = Route)]
struct Ask<T: Serialize + JsonSchema> {
    about: T,
}

#[derive(Signature)]
struct Route {
    team: String,
}

fn main() {
    let _ = Ask::<u8>::FIELDS.about;
    let _ = Ask::<u8>::FIELDS.abuot;
}
