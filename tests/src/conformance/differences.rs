//! Which quirks of DSPy `imp` does not share, and why.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value as Json;

use super::checks::{self, Check};

const QUIRKS: &str = include_str!("../../conformance/quirks.json");
const DIFFERENCES: &str = include_str!("../../conformance/differences.toml");

/// The policies of the quirks, and the differences.
#[derive(Debug)]
pub(super) struct Differences {
    policies: BTreeMap<String, String>,
    classes: BTreeMap<String, Vec<Class>>,
}

/// What our result must be where it is not DSPy's.
#[derive(Debug, Clone, Copy)]
pub(super) enum Class {
    /// An error.
    Error,
    /// A result, other than DSPy's.
    Differs,
    /// What a function says.
    Check(Check),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    quirk: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    class: String,
    reason: String,
}

impl Differences {
    /// Reads both files.
    pub(super) fn load() -> Result<Self, String> {
        let quirks: BTreeMap<String, Json> = serde_json::from_str(QUIRKS).map_err(|e| e.to_string())?;
        let policies: BTreeMap<String, String> = quirks
            .into_iter()
            .map(|(name, quirk)| (name, quirk["policy"].as_str().unwrap_or_default().to_owned()))
            .collect();
        let file: File = toml::from_str(DIFFERENCES).map_err(|e| e.to_string())?;
        let mut classes: BTreeMap<String, Vec<Class>> = BTreeMap::new();
        for Entry { name, class, reason } in file.quirk {
            let policy = policies.get(&name).ok_or_else(|| format!("there is no quirk `{name}`"))?;
            if policy == "match" {
                return Err(format!("`{name}` is to match, it cannot be a difference"));
            }
            if reason.is_empty() {
                return Err(format!("`{name}` is listed without a reason"));
            }
            let class = match class.as_str() {
                "error" => Class::Error,
                "differs" => Class::Differs,
                check => Class::Check(
                    checks::named(check).ok_or_else(|| format!("`{name}`: there is no check `{check}`"))?,
                ),
            };
            if policy == "should-differ" && !matches!(class, Class::Check(_)) {
                return Err(format!("`{name}` should differ for the better: it needs a check"));
            }
            classes.entry(name).or_default().push(class);
        }
        Ok(Differences { policies, classes })
    }

    /// The policy of a quirk.
    pub(super) fn policy(&self, quirk: &str) -> Option<&str> {
        self.policies.get(quirk).map(String::as_str)
    }

    /// The classes of which our result for a quirk has to fit one.
    pub(super) fn classes(&self, quirk: &str) -> Vec<Class> {
        self.classes.get(quirk).cloned().unwrap_or_default()
    }
}
