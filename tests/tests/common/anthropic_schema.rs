//! Whether Anthropic would take a request body: the rules that its schema does not state, and the schema where it is.
//!
//! The schema's licence is not stated, so it is not copied here: `IMP_ANTHROPIC_SCHEMA` names the file, else it is
//! looked for beside the checkout.

use std::path::PathBuf;
use std::sync::LazyLock;

use serde_json::Value as Json;

static VALIDATOR: LazyLock<Option<jsonschema::Validator>> = LazyLock::new(|| {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/servers/schema_anthropic_request.json");
    let place = std::env::var_os("IMP_ANTHROPIC_SCHEMA").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    let Ok(text) = std::fs::read_to_string(&place) else {
        eprintln!("skipped: Anthropic's schema is not at {}; set `IMP_ANTHROPIC_SCHEMA`", place.display());
        return None;
    };
    let schema: Json = serde_json::from_str(&text).expect("the schema is JSON");
    Some(jsonschema::validator_for(&schema).expect("the schema is a JSON Schema"))
});

/// Everything that is wrong with a request body, in words; empty if nothing is.
pub fn violations(body: &Json) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(validator) = &*VALIDATOR {
        let errors = validator.iter_errors(body);
        found.extend(errors.map(|error| format!("{}: {error}", error.instance_path())));
    }
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    let ids = |message: &Json, kind: &str, key: &str| -> Vec<String> {
        let blocks = message["content"].as_array().cloned().unwrap_or_default();
        let blocks = blocks.iter().filter(|block| block["type"] == kind);
        blocks.filter_map(|block| block[key].as_str().map(str::to_owned)).collect()
    };
    for pair in messages.windows(2) {
        if pair[0]["role"] == pair[1]["role"] {
            found.push(format!("two messages in a row are of the {}", pair[0]["role"]));
        }
        if ids(&pair[0], "tool_use", "id") != ids(&pair[1], "tool_result", "tool_use_id") {
            found.push("calls and results are not the same".to_owned());
        }
    }
    if messages.first().is_some_and(|first| !ids(first, "tool_result", "tool_use_id").is_empty()) {
        found.push("a result has no call".to_owned());
    }
    found
}
