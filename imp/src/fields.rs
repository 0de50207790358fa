//! The values of one side of a described signature.

use serde::{Deserialize, Serialize};

use crate::value::{Map, Value};

/// Values by field name: the inputs or the outputs of a signature that is described at run time.
///
/// ```
/// use imp::Fields;
///
/// let fields = Fields::from([("intent", "refund"), ("plan", "pro")]);
/// assert_eq!(fields.get("plan"), Some(&"pro".into()));
/// assert_eq!(fields.get("team"), None);
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fields(Map);

impl Fields {
    /// No values.
    pub fn new() -> Self {
        Fields::default()
    }

    /// The value of a field, if it has one; a null is a value.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Sets the value of a field.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Value>) -> Option<Value> {
        self.0.insert(name, value)
    }

    /// The same values and one more.
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.insert(name, value);
        self
    }

    /// The values in the order of insertion.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        self.0.iter()
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The values as a map.
    pub fn into_map(self) -> Map {
        self.0
    }
}

impl From<Map> for Fields {
    fn from(map: Map) -> Self {
        Fields(map)
    }
}

impl<K: Into<String>, V: Into<Value>> FromIterator<(K, V)> for Fields {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        Fields(entries.into_iter().collect())
    }
}

impl<K: Into<String>, V: Into<Value>, const N: usize> From<[(K, V); N]> for Fields {
    fn from(entries: [(K, V); N]) -> Self {
        entries.into_iter().collect()
    }
}
