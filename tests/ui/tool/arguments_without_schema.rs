//! A tool's arguments that cannot be described to a model.

use imp::Tool;
use serde::Deserialize;

#[derive(Deserialize)]
struct OnCall {
    squad: String,
}

fn main() {
    Tool::new("on_call", "Look up who is on call.", |args: OnCall| async move { args.squad });
}
