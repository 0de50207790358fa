//! Replies that are still being written.

use std::collections::HashSet;

use imp::{Chat, Dialect, Fields, Json};

use super::case::Case;
use crate::fronts::{are_front, has_twins};

/// The fronts that are read of a reply: all of a short one.
const FRONTS: usize = 64;

/// A reply that can be read: what is said of its fronts is the front of the whole, and nothing is taken back.
///
/// # Panics
///
/// Something is wrong.
pub fn partial_reply(bytes: &[u8]) {
    let Some(Case { signature, dialect, reply }) = Case::new(bytes) else { return };
    let spec = &signature.spec;
    let chat = Chat::new().dialect(dialect);
    check(&reply, dialect, chat.read_fields(spec, &*reply).ok(), |front| chat.partial_fields(spec, front));
    let json = Json::new().dialect(dialect);
    check(&reply, dialect, json.read_fields(spec, &*reply).ok(), |front| json.partial_fields(spec, front));
}

fn check(reply: &str, dialect: Dialect, whole: Option<Fields>, read: impl Fn(&str) -> Fields) {
    // Of equal keys the last counts, which no front can know.
    let twins = |whole: &Fields| repeats_a_key(reply) || whole.iter().any(|(_, value)| has_twins(value));
    let whole = whole.filter(|whole| !twins(whole));
    // In a reply with a backslash that means something else behind a slip, the ends of texts may wait.
    let waits = reply.contains('\\');
    let step = reply.len().div_ceil(FRONTS).max(1);
    let mut before = Fields::new();
    for front in (0..=reply.len()).step_by(step).filter_map(|end| reply.get(..end)) {
        let part = read(front);
        // Nothing is promised of a reply that cannot be read.
        let Some(whole) = &whole else { continue };
        assert!(
            are_front(&part, whole, waits),
            "{dialect:?}: {part:?} is not the front of {whole:?}\n{front:?}\n{reply:?}"
        );
        assert!(
            are_front(&before, &part, waits),
            "{dialect:?}: {before:?} became {part:?}\n{front:?}\n{reply:?}"
        );
        before = part;
    }
}

/// Whether a word stands in front of two colons, whatever is between them and whatever they mean.
fn repeats_a_key(reply: &str) -> bool {
    let mut keys = HashSet::new();
    let mut pieces: Vec<&str> = reply.split(':').collect();
    pieces.pop();
    pieces.iter().any(|piece| {
        let piece = piece.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '_');
        let start = piece.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
        !keys.insert(piece.get(start..).unwrap_or(piece))
    })
}
