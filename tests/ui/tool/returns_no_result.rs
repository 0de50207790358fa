//! What a tool returns is a result, or a value of a known type.

use imp::Tool;
use serde::Serialize;

#[derive(Serialize)]
struct Shift {
    name: String,
}

fn main() {
    Tool::new("on_call", "Look up who is on call.", |(): ()| async { Shift { name: "Ada".into() } });
}
