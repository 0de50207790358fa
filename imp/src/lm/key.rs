//! What a provider knows its customer by.

use std::fmt;
use std::sync::Arc;

/// A key, or a closure that gives one before each request; made from either. `Debug` never shows it.
///
/// ```
/// use imp::lm::Key;
///
/// let fixed = Key::from("sk-secret");
/// let fresh = Key::from(|| std::fs::read_to_string("/run/token").unwrap_or_default());
/// assert_eq!(format!("{fixed:?} {fresh:?}"), "Key(…) Key(…)");
/// ```
#[derive(Clone)]
pub struct Key(Source);

#[derive(Clone)]
enum Source {
    Fixed(Arc<str>),
    Asked(Arc<dyn Fn() -> String + Send + Sync>),
}

impl Key {
    /// The key without white space around it (one from a file often has a line end); `None` if it is empty.
    pub(super) fn get(&self) -> Option<String> {
        let key = match &self.0 {
            Source::Fixed(key) => key.trim().to_owned(),
            Source::Asked(key) => key().trim().to_owned(),
        };
        (!key.is_empty()).then_some(key)
    }
}

impl From<&str> for Key {
    fn from(key: &str) -> Self {
        Key(Source::Fixed(key.into()))
    }
}

impl From<String> for Key {
    fn from(key: String) -> Self {
        Key(Source::Fixed(key.into()))
    }
}

impl<F: Fn() -> String + Send + Sync + 'static> From<F> for Key {
    fn from(key: F) -> Self {
        Key(Source::Asked(Arc::new(key)))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}
