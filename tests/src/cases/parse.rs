//! The parse kinds: a reply is read, as programs do.

use imp::{Chat, Ending, Fields, ParseError, RawReply, Read, Xml, read_with};
use serde_json::{Map, Value as Json};

use super::signature::{Signature, same, text};
use super::{check_keys, is_error};

/// Reads the case's reply, and returns what judges the outcome.
pub(super) fn run(
    kind: &str,
    case: &Map<String, Json>,
) -> Result<impl Fn(&Json) -> Result<(), String> + use<>, String> {
    let signature = Signature::new(case.get("signature").unwrap_or(&Json::Null), None)?;
    let reply = case.get("reply").and_then(text).ok_or("a case has a `reply`")?;
    let ending = match case.get("given") {
        None => Ending::Stopped,
        Some(given) => {
            check_keys(given.as_object().ok_or("`given` is an object")?, &["finish_reason", "inputs"])?;
            match given.get("finish_reason").map(Json::as_str) {
                None | Some(Some("stop")) => Ending::Stopped,
                Some(Some("length")) => Ending::CutOff,
                _ => Ending::Unknown,
            }
        }
    };
    let reply = RawReply::new(&reply).ending(ending);
    let spec = &signature.spec;
    let outcome: Result<Read<Fields>, ParseError> = match kind {
        "parse_chat" => read_with(&Chat::new(), spec, reply),
        "parse_json" => read_with(&imp::Json::new(), spec, reply),
        _ => read_with(&Xml::new(), spec, reply),
    };
    Ok(move |expected: &Json| match (&outcome, expected) {
        (Err(_), expected) if is_error(expected) => Ok(()),
        (Ok(ours), Json::Object(map)) => {
            let fits = map.len() == signature.outputs.len()
                && signature.outputs.iter().all(|(name, ty)| {
                    let (Some(theirs), Some(ours)) = (map.get(name), ours.get(name)) else { return false };
                    same(ty, theirs, ours)
                });
            if fits { Ok(()) } else { Err(shown(&format!("{:?}, read as {:?}", **ours, ours.how()))) }
        }
        (Ok(ours), _) => Err(shown(&format!("{:?}, read as {:?}", **ours, ours.how()))),
        (Err(error), _) => Err(shown(&format!("the error {error}"))),
    })
}

fn shown(text: &str) -> String {
    text.chars().take(600).collect()
}
