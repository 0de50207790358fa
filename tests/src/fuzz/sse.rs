//! Streamed bodies, cut anywhere.

use imp::lm::wire::{Delta, StreamDecoder, sse};

use crate::generate::Rng;

/// A body as a stream of events and as a reply of each provider: however it is cut, it says the same.
///
/// The first byte chooses the cuts; the rest is the body.
///
/// # Panics
///
/// Something is wrong.
pub fn sse(bytes: &[u8]) {
    let Some((choice, body)) = bytes.split_first() else { return };
    let mut rng = Rng::new(u64::from(*choice));
    let mut cuts: Vec<Vec<&[u8]>> = vec![vec![body], body.chunks(1).collect()];
    for _ in 0..3 {
        cuts.push(random(&mut rng, body));
    }
    // A small limit, so that it is met.
    for limit in [24, 1 << 20] {
        all_same(cuts.iter().map(|pieces| events(pieces, limit)), body);
    }
    for status in [200, 503] {
        let headers = imp::lm::Headers::default();
        let openai = StreamDecoder::openai(status, &headers);
        let anthropic = StreamDecoder::anthropic(status, &headers);
        for decoder in [openai, anthropic] {
            all_same(cuts.iter().map(|pieces| reply(decoder.clone(), pieces)), body);
        }
    }
}

/// Pieces of some bytes, a few of them empty.
fn random<'b>(rng: &mut Rng, mut body: &'b [u8]) -> Vec<&'b [u8]> {
    let mut pieces = Vec::new();
    while !body.is_empty() {
        let (piece, rest) = body.split_at(rng.below(13).min(body.len()));
        pieces.push(piece);
        body = rest;
    }
    pieces
}

fn all_same<T: PartialEq + std::fmt::Debug>(mut readings: impl Iterator<Item = T>, body: &[u8]) {
    let whole = readings.next();
    for reading in readings {
        assert_eq!(Some(reading), whole, "{:?}", String::from_utf8_lossy(body));
    }
}

/// The events of a body, and whether one was too long.
fn events(pieces: &[&[u8]], limit: usize) -> (Vec<sse::Event>, bool) {
    let mut decoder = sse::Decoder::new(limit);
    let mut events = Vec::new();
    for piece in pieces {
        if decoder.push(piece, &mut events).is_err() {
            return (events, true);
        }
    }
    events.extend(decoder.finish());
    (events, false)
}

/// The deltas of a reply, and what came of it.
fn reply(mut decoder: StreamDecoder, pieces: &[&[u8]]) -> (Vec<Delta>, String) {
    let mut deltas = Vec::new();
    for piece in pieces {
        deltas.extend(decoder.push(piece));
    }
    deltas.extend(decoder.end());
    let result = decoder.finish();
    if let Ok(completion) = &result {
        said(&deltas, completion);
    }
    if let Err(error) = &result {
        super::check::short(&error.to_string(), "a stream");
    }
    (deltas, format!("{result:?}"))
}

/// The deltas, joined, are the texts of the completion.
fn said(deltas: &[Delta], completion: &imp::Completion) {
    for (at, choice) in completion.choices.iter().enumerate() {
        let mut joined = String::new();
        for delta in deltas {
            if let Delta::Text { choice, text } = delta
                && *choice == at
            {
                joined.push_str(text);
            }
        }
        assert_eq!(joined, choice.text.clone().unwrap_or_default(), "{deltas:?}");
    }
}
