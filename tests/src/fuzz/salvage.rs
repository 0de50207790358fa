//! Replies read as programs do.

use imp::{Adapter, Chat, Ending, Fields, HowRead, Json, RawReply, Reply, Value, Xml, read_reply, read_with};

use super::case::{Case, Signature};
use super::check::{same, sound_error, values, well_typed};
use crate::generate::Ty;

/// A reply to each adapter, ended in each way: salvage takes nothing from what `parse` reads, and makes nothing up.
///
/// # Panics
///
/// Something is wrong.
pub fn salvage(bytes: &[u8]) {
    let Some(Case { signature, dialect, reply }) = Case::new(bytes) else { return };
    let adapters: [&dyn Adapter; 3] =
        [&Chat::new().dialect(dialect), &Json::new().dialect(dialect), &Xml::new().dialect(dialect)];
    for adapter in adapters {
        let exact = read_reply::<Fields, _>(adapter, &signature.spec, Reply::Text(&reply));
        let [stopped, cut, unknown] = [Ending::Stopped, Ending::CutOff, Ending::Unknown]
            .map(|ending| one(adapter, signature, &reply, ending, exact.as_ref().ok()));
        // Who knows less of the end reads no more, and nothing else.
        for read in [cut, unknown].into_iter().flatten() {
            let stopped = stopped.as_ref().unwrap_or_else(|| panic!("only {read:?}\n{reply:?}"));
            assert!(same(&values(&read), &values(stopped)), "{read:?}, {stopped:?}\n{reply:?}");
        }
    }
}

fn one(
    adapter: &dyn Adapter,
    signature: &Signature,
    reply: &str,
    ending: Ending,
    exact: Option<&Fields>,
) -> Option<Fields> {
    let name = adapter.name();
    let raw = RawReply::new(reply).ending(ending);
    let on = read_with::<Fields, _>(adapter, &signature.spec, raw);
    let off = read_with::<Fields, _>(adapter, &signature.spec, raw.salvage(false));
    for error in [on.as_ref().err(), off.as_ref().err()].into_iter().flatten() {
        sound_error(error, reply);
    }
    match (&on, &off) {
        (Ok(on), Ok(off)) => {
            assert_eq!(on.how(), off.how(), "{name}: {reply:?}");
            assert!(same(&values(on), &values(off)), "{name}: {on:?} for {off:?}\n{reply:?}");
        }
        (Err(error), Ok(off)) => panic!("{name}: salvage loses {off:?}: {error}\n{reply:?}"),
        // What `parse` reads may have stood in a think block, which is no answer.
        (Ok(on), Err(_)) if ending == Ending::Stopped && on.reasoning().is_none() => {
            assert!(exact.is_none(), "{name}: parse reads {exact:?}, only salvage {on:?}\n{reply:?}");
        }
        _ => {}
    }
    let read = on.ok()?;
    well_typed(signature, &read, reply);
    match read.how() {
        HowRead::Exact => {
            let exact = exact.unwrap_or_else(|| panic!("{name}: parse refuses {read:?}\n{reply:?}"));
            assert!(same(&values(exact), &values(&read)), "{name}: {exact:?}, {read:?}\n{reply:?}");
        }
        HowRead::Salvaged { .. } => made_of(signature, &read, reply),
        _ => {}
    }
    Some(read.into_inner())
}

/// A salvaged text consists of what the reply says, in its order.
fn made_of(signature: &Signature, fields: &Fields, reply: &str) {
    // An escape spells a character with others.
    if reply.contains(['\\', '&']) {
        return;
    }
    for (name, ty) in &signature.outputs {
        if let (Ty::Text(_), Some(Value::String(text))) = (ty, fields.get(name)) {
            let mut rest = reply.chars();
            for c in text.chars().filter(|c| c.is_alphanumeric()) {
                assert!(rest.any(|other| other == c), "`{name}` is made up: {text:?}\n{reply:?}");
            }
        }
    }
}
