//! Replies in sections, read exactly.

use imp::{Adapter, Chat, Dialect, Fields, HowRead, RawReply, Reply, read_reply, read_with};

use super::case::{Case, Signature};
use super::check::{comes_back, same, sound_error, values, well_typed};

/// A reply of the Chat adapter: what is read is of its type and comes back, and `read` changes nothing of it.
///
/// # Panics
///
/// Something is wrong.
pub fn chat_parse(bytes: &[u8]) {
    let Some(Case { signature, dialect, reply }) = Case::new(bytes) else { return };
    exact(&Chat::new().dialect(dialect), signature, dialect, &reply);
}

/// What holds of an exact reading.
pub(super) fn exact(adapter: &dyn Adapter, signature: &Signature, dialect: Dialect, reply: &str) {
    let parsed = read_reply::<Fields, _>(adapter, &signature.spec, Reply::Text(reply));
    match &parsed {
        Err(error) => sound_error(error, reply),
        Ok(fields) => {
            well_typed(signature, fields, reply);
            // DSPy's dialect writes no escapes.
            if dialect == Dialect::Plain {
                comes_back(adapter, signature, fields, reply);
            }
        }
    }
    match read_with::<Fields, _>(adapter, &signature.spec, RawReply::new(reply).salvage(false)) {
        Err(error) => sound_error(&error, reply),
        Ok(read) => {
            well_typed(signature, &read, reply);
            match read.how() {
                HowRead::Exact => {
                    let parsed = parsed.unwrap_or_else(|error| panic!("{error}: {read:?}\n{reply:?}"));
                    assert!(
                        same(&values(&read), &values(&parsed)),
                        "parse {parsed:?}, read {read:?}\n{reply:?}"
                    );
                }
                HowRead::Trimmed => {}
                how => panic!("{how:?} without salvage\n{reply:?}"),
            }
        }
    }
}
