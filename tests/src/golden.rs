//! Texts that are kept in files: `UPDATE_GOLDEN=1 cargo test -p imp-tests` writes them anew; read them in the diff.

use std::fs;
use std::path::Path;

/// Compares a text with the file of that name in `tests/golden`.
///
/// # Panics
///
/// The text is another, or the file cannot be read or written.
pub fn check(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        return;
    }
    let kept = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    for (at, (kept, ours)) in kept.lines().zip(text.lines()).enumerate() {
        assert_eq!(ours, kept, "{}:{}", path.display(), at + 1);
    }
    assert_eq!(text, kept, "{}: another length", path.display());
}
