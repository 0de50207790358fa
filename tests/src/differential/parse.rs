//! Replies in the chat format, read by `imp` in DSPy's dialect and by the real DSPy 3.4.0.
//!
//! Its answers are lines that `scripts/dspy_worker.py` writes.

use std::collections::{BTreeMap, BTreeSet};

use imp::{Chat, Dialect, Fields, Map, ParseError, ParseErrorKind, SignatureSpec, Value};
use serde_json::Value as Json;

use super::draw::Batch;
use super::quirks::{self, Field, Read};
use crate::conformance::same;
use crate::generate::Ty;

/// What was seen in the draws so far.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// How many draws there were.
    pub draws: usize,
    /// How many were read alike.
    pub same: usize,
    /// How many were not, by the quirks that say why.
    pub listed: BTreeMap<String, usize>,
    /// Those that nothing explains.
    pub unlisted: Vec<String>,
}

impl Report {
    /// Reads the replies of a batch and compares; `line` is what DSPy made of them.
    ///
    /// # Errors
    ///
    /// The line is no answer to this batch, or the signature is none.
    pub fn compare(&mut self, batch: &Batch, line: &str) -> Result<(), String> {
        let answers: Vec<Json> = serde_json::from_str(line).map_err(|error| error.to_string())?;
        if answers.len() != batch.replies.len() {
            return Err(format!("{} answers to {} replies", answers.len(), batch.replies.len()));
        }
        let spec = SignatureSpec::from_json(&batch.signature).map_err(|error| error.to_string())?;
        for (reply, theirs) in batch.replies.iter().zip(&answers) {
            self.draws += 1;
            let ours = Chat::new().dialect(Dialect::Dspy).read_fields(&spec, reply.as_str());
            if alike(batch, &ours, theirs) {
                self.same += 1;
                continue;
            }
            match why(batch, reply, &ours, theirs) {
                Ok(quirks) => *self.listed.entry(quirks).or_default() += 1,
                Err(field) => self.unlisted.push(format!("{field}\n  reply  {reply:?}")),
            }
        }
        Ok(())
    }
}

/// Whether both read the reply alike: the same values, or an error of the same kind.
fn alike(batch: &Batch, ours: &Result<Fields, ParseError>, theirs: &Json) -> bool {
    match (ours, theirs.get("value")) {
        (Ok(ours), Some(theirs)) => same(&decode(theirs), &ours.clone().into_map().into()),
        (Err(ours), None) => match theirs.get("there").and_then(Json::as_array) {
            Some(there) => {
                let there: BTreeSet<&str> = there.iter().filter_map(Json::as_str).collect();
                let names = batch.outputs.iter().map(|(name, _)| name.as_str());
                let lacks = |name: &str| ours.missing().iter().any(|missing| missing == name);
                ours.kind() == ParseErrorKind::MissingFields
                    && names.filter(|name| !lacks(name)).collect::<BTreeSet<_>>() == there
            }
            None => !ours.failures().is_empty(),
        },
        _ => false,
    }
}

/// The quirks that explain every output on which the two disagree, or an output that none explains.
fn why(
    batch: &Batch,
    reply: &str,
    ours: &Result<Fields, ParseError>,
    theirs: &Json,
) -> Result<String, String> {
    let mut names = BTreeSet::new();
    for (name, ty) in &batch.outputs {
        let section = &theirs["sections"][name];
        let their = match (section.get("value"), section.get("text")) {
            (Some(value), _) => Read::Value(decode(value)),
            (None, Some(_)) => Read::Error,
            // DSPy has none for what may be none.
            (None, None) if matches!(ty, Ty::Optional(_)) => Read::Value(Value::Null),
            (None, None) => Read::Absent,
        };
        let our = match ours {
            Ok(fields) => fields.get(name).map_or(Read::Absent, |value| Read::Value(value.clone())),
            Err(error) if error.failures().iter().any(|failure| failure.field == *name) => Read::Error,
            Err(error) => error.fields().get(name).map_or(Read::Absent, |value| Read::Value(value.clone())),
        };
        let alike = match (&our, &their) {
            (Read::Value(our), Read::Value(their)) => same(their, our),
            (Read::Error, Read::Error) | (Read::Absent, Read::Absent) => true,
            _ => false,
        };
        if alike {
            continue;
        }
        let text = section["text"].as_str();
        let field =
            Field { reply, name, ty, text, python: section["python"] == true, ours: &our, theirs: &their };
        names.insert(quirks::of(&field).ok_or_else(|| {
            format!("{}\n  text   {text:?}\n  ours   {our:?}\n  theirs {their:?}", ty.json())
        })?);
    }
    if names.is_empty() {
        let ours = ours.as_ref().map_err(|error| (error.missing(), error.failures()));
        return Err(format!("the whole\n  ours   {ours:?}\n  theirs {theirs}"));
    }
    Ok(names.into_iter().collect::<Vec<_>>().join(" + "))
}

/// A value of the worker's.
fn decode(json: &Json) -> Value {
    match json {
        Json::Array(items) => items.iter().map(decode).collect::<Vec<_>>().into(),
        Json::Object(map) => {
            if let (1, Some(text)) = (map.len(), map.get("$float").and_then(Json::as_str)) {
                return Value::Float(text.parse().unwrap_or(f64::NAN));
            }
            if let (1, Some(digits)) = (map.len(), map.get("$int").and_then(Json::as_str)) {
                return digits.parse().map_or_else(|_| digits.into(), Value::Int);
            }
            map.iter().map(|(key, item)| (key.clone(), decode(item))).collect::<Map>().into()
        }
        json => json.clone().into(),
    }
}
