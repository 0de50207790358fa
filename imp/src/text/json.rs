//! JSON strings: how they are written.

/// Writes the content of a JSON string, without its quotes, as Python's
/// `json.dumps(…, ensure_ascii=False)` does: `"`, `\` and what is below 0x20 are escaped, nothing else.
pub(crate) fn push_escaped(out: &mut String, text: &str) {
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x08 => "\\b",
            0x0c => "\\f",
            0..0x20 => "",
            _ => continue,
        };
        out.push_str(text.get(from..at).unwrap_or_default());
        from = at + 1;
        if escape.is_empty() {
            out.push_str("\\u00");
            out.push(char::from(b'0' + (byte >> 4)));
            out.push(char::from(b"0123456789abcdef"[usize::from(byte & 15)]));
        } else {
            out.push_str(escape);
        }
    }
    out.push_str(text.get(from..).unwrap_or_default());
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
