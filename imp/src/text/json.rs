//! JSON strings: how they are written, and where they end.

/// How many bytes from the front are neither `"`, `\` nor a control character.
#[inline]
pub(crate) fn plain_len(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
    // Eight bytes at a time: a byte's high bit is set where the byte is one of the three. A borrow can only
    // set a bit behind one that is set rightly, and the first one counts.
    let mut len = 0;
    while let Some(chunk) = bytes.get(len..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*chunk);
        let control = word.wrapping_sub(ONES * 0x20) & !word;
        let quote = word ^ (ONES * u64::from(b'"'));
        let quote = quote.wrapping_sub(ONES) & !quote;
        let backslash = word ^ (ONES * u64::from(b'\\'));
        let backslash = backslash.wrapping_sub(ONES) & !backslash;
        let found = (control | quote | backslash) & HIGH;
        if found != 0 {
            return len + found.trailing_zeros() as usize / 8;
        }
        len += 8;
    }
    let rest = bytes.get(len..).unwrap_or_default();
    len + rest.iter().take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..0x20)).count()
}

/// Writes the content of a JSON string, without its quotes, as Python's
/// `json.dumps(…, ensure_ascii=False)` does: `"`, `\` and what is below 0x20 are escaped, nothing else.
pub(crate) fn push_escaped(out: &mut String, text: &str) {
    let bytes = text.as_bytes();
    let mut from = 0;
    loop {
        let at = from + plain_len(bytes.get(from..).unwrap_or_default());
        out.push_str(text.get(from..at).unwrap_or_default());
        let Some(&byte) = bytes.get(at) else { return };
        from = at + 1;
        out.push_str(match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x08 => "\\b",
            0x0c => "\\f",
            _ => {
                out.push_str("\\u00");
                out.push(char::from(b'0' + (byte >> 4)));
                out.push(char::from(b"0123456789abcdef"[usize::from(byte & 15)]));
                continue;
            }
        });
    }
}

/// Writes a JSON string.
pub(crate) fn push_string(out: &mut String, text: &str) {
    out.push('"');
    push_escaped(out, text);
    out.push('"');
}

/// The content of a JSON string that [`push_escaped`] wrote.
pub(crate) fn unescaped(text: &str) -> std::borrow::Cow<'_, str> {
    if !text.contains('\\') {
        return text.into();
    }
    serde_json::from_str::<String>(&format!("\"{text}\"")).map_or(text.into(), Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plain_part_of_a_string_ends_at_each_special_byte() {
        for special in (0..=255_u8).filter(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)) {
            for at in 0..20 {
                let mut bytes = vec![0x80 + special; 20];
                bytes[at] = special;
                assert_eq!(plain_len(&bytes), at, "{special}");
            }
        }
        for byte in (0x20..=255).filter(|byte| !matches!(byte, b'"' | b'\\')) {
            assert_eq!(plain_len(&[byte; 19]), 19);
        }
    }

    #[test]
    fn strings_are_escaped_as_python_does() {
        for (text, json) in [
            ("", r#""""#),
            ("a \"b\" \\ / ü 日本 \u{7f}\u{2028}", "\"a \\\"b\\\" \\\\ / ü 日本 \u{7f}\u{2028}\""),
            ("\n\r\t\u{8}\u{c}\0\u{1f}", r#""\n\r\t\b\f\u0000\u001f""#),
        ] {
            let mut out = String::new();
            push_string(&mut out, text);
            assert_eq!(out, json);
            assert_eq!(unescaped(&out[1..out.len() - 1]), text);
        }
    }
}
