//! Replies that are made to be slow: a naive reader takes quadratic time for each.

/// The names of the replies, and the piece that each repeats.
const PIECES: [(&str, &str); 7] = [
    ("hostile_markers", "[[ ## "),
    ("hostile_marker_lines", "[[ ## answer ##\n"),
    ("hostile_brackets", "["),
    ("hostile_braces", "{\"a\":"),
    ("hostile_quotes", "\""),
    ("hostile_escapes", "\\[["),
    ("hostile_fences", "```\n"),
];

/// Replies of about `bytes` bytes, each with its name: alone, and as the value of an output.
pub fn replies(bytes: usize) -> Vec<(String, String)> {
    let mut out = Vec::new();
    for (name, piece) in PIECES {
        let body = piece.repeat(bytes / piece.len());
        out.push((
            format!("{name}_inside"),
            format!("[[ ## answer ## ]]\n{body}\n\n[[ ## completed ## ]]\n"),
        ));
        out.push((name.to_owned(), body));
    }
    out
}
