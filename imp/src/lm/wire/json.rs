//! JSON as providers send it.

use std::borrow::Cow;

use serde_json::Value as Json;

/// A text that is there and not empty.
pub(super) fn text_at(json: &Json, key: &str) -> Option<String> {
    json.get(key).and_then(Json::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Reads JSON. What `serde_json` refuses though its meaning is plain is mended first: a byte order mark, half a
/// surrogate pair, bytes that are no UTF-8, control characters in a text. One bad character must not cost a reply.
///
/// The error is the one of the body as it came.
pub(super) fn parse(body: &[u8]) -> Result<Json, serde_json::Error> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    serde_json::from_slice(body).or_else(|error| {
        // What ends too early is no better when mended.
        if error.is_eof() {
            return Err(error);
        }
        serde_json::from_str(&mended(&String::from_utf8_lossy(body))).map_err(|_| error)
    })
}

/// The same text with what `serde_json` does not take in a string replaced by what it does.
fn mended(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut quoted = false;
    while let Some(at) = rest.find(|c: char| c == '\\' || c == '"' || c < ' ') {
        let (plain, tail) = rest.split_at(at);
        out.push_str(plain);
        let mut characters = tail.chars();
        let (taken, written) = match characters.next() {
            Some('"') => {
                quoted = !quoted;
                (1, Cow::Borrowed("\""))
            }
            Some('\\') => escape(tail, characters.next()),
            Some(control) if quoted => (1, Cow::Owned(format!("\\u{:04x}", u32::from(control)))),
            // White space between values is as it should be.
            _ => (1, Cow::Borrowed(tail.get(..1).unwrap_or_default())),
        };
        out.push_str(&written);
        rest = tail.get(taken..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// How many bytes an escape at the start has, and what to write for it.
fn escape(tail: &str, next: Option<char>) -> (usize, Cow<'_, str>) {
    let unit = |at: usize| {
        let digits = tail.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let as_is = |length: usize| (length, Cow::Borrowed(tail.get(..length).unwrap_or(tail)));
    match unit(0) {
        Some(0xd800..=0xdbff) if matches!(unit(6), Some(0xdc00..=0xdfff)) => as_is(12),
        Some(0xd800..=0xdfff) => (6, Cow::Borrowed("\\ufffd")),
        _ => as_is(1 + next.map_or(0, char::len_utf8)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_mended() {
        let cases: [(&[u8], Json); 9] = [
            (b"\xef\xbb\xbf{\"a\": 1}", json!({"a": 1})),
            (br#""x\ud83d y""#, json!("x\u{fffd} y")),
            (br#""\ude00""#, json!("\u{fffd}")),
            (br#"["\ud83d\ude00", "\ud83d\ud83d\ude00", "\ud83d"]"#, json!(["😀", "\u{fffd}😀", "\u{fffd}"])),
            (br#""\\ud83d \" \ud83d""#, json!("\\ud83d \" \u{fffd}")),
            (b"\"a\nb\tc\"", json!("a\nb\tc")),
            (b"{\n\"a\":\t\"\x01\"}", json!({"a": "\u{1}"})),
            (b"\"a\xff\"", json!("a\u{fffd}")),
            ("\"\\ud83dé\"".as_bytes(), json!("\u{fffd}é")),
        ];
        for (body, expected) in cases {
            assert_eq!(parse(body).unwrap(), expected, "{}", String::from_utf8_lossy(body));
        }
    }

    #[test]
    fn what_is_not() {
        for body in [&b"{"[..], b"", b"\"\\", b"\"\\u", b"\"\\ud83d", b"\\", b"{\"a\": \"\\q\"}", b"{} {}"] {
            assert!(parse(body).is_err(), "{}", String::from_utf8_lossy(body));
        }
    }
}
