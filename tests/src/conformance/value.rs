//! The corpus' encoding of values.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use imp::{Fields, Map, Value};
use serde_json::Value as Json;

/// The members of the enums that a signature names.
#[derive(Debug, Default)]
pub(super) struct Enums<'c>(BTreeMap<&'c str, &'c [Json]>);

impl<'c> Enums<'c> {
    pub(super) fn of(signature: &'c Json) -> Self {
        let mut enums = BTreeMap::new();
        let mut open = vec![signature];
        while let Some(json) = open.pop() {
            match json {
                Json::Object(map) => {
                    if let Some(body) = map.get("enum")
                        && let (Some(name), Some(members)) =
                            (body["name"].as_str(), body["members"].as_array())
                    {
                        enums.insert(name, members.as_slice());
                    }
                    open.extend(map.values());
                }
                Json::Array(items) => open.extend(items),
                _ => {}
            }
        }
        Enums(enums)
    }

    fn member(&self, name: &Json, member: &Json) -> Option<&'c Json> {
        let members = self.0.get(name.as_str()?)?;
        members.iter().find(|known| known[0] == *member).map(|known| &known[1])
    }
}

/// Pairs `[name, V]` as fields.
pub(super) fn fields(pairs: &Json, enums: &Enums<'_>) -> Result<Fields, String> {
    entries(pairs, enums).map(Fields::from)
}

fn entries(pairs: &Json, enums: &Enums<'_>) -> Result<Map, String> {
    let pairs = pairs.as_array().ok_or_else(|| format!("no list of pairs: {pairs}"))?;
    pairs
        .iter()
        .map(|pair| {
            let name = pair[0].as_str().ok_or_else(|| format!("no pair: {pair}"))?;
            Ok((name.to_owned(), decode(&pair[1], enums)?))
        })
        .collect()
}

/// The value that is encoded.
///
/// `imp` has no values of their own for dates: a datetime is the text that pydantic writes for it.
pub(super) fn decode(json: &Json, enums: &Enums<'_>) -> Result<Value, String> {
    let bad = || format!("no value: {json}");
    let text = |json: &Json| json.as_str().map(str::to_owned).ok_or_else(bad);
    let map = match json {
        Json::Array(items) => {
            return items.iter().map(|item| decode(item, enums)).collect::<Result<_, _>>().map(Value::List);
        }
        Json::Object(map) => map,
        json => return Ok(json.clone().into()),
    };
    let Some((tag, body)) = map.iter().next() else { return Ok(Value::Map(Map::new())) };
    Ok(match tag.as_str() {
        "$map" => Value::Map(entries(body, enums)?),
        "$object" => Value::Map(entries(&json["fields"], enums)?),
        "$enum" => enums.member(body, &json["member"]).ok_or_else(bad)?.clone().into(),
        "$datetime" => Value::String(utc_as_z(&text(body)?)),
        "$date" | "$reasoning" => Value::String(text(body)?),
        "$int" => Value::Int(text(body)?.parse().map_err(|_| bad())?),
        "$float" => Value::Float(text(body)?.parse().map_err(|_| bad())?),
        "$tool_calls" => {
            let calls = body.as_array().ok_or_else(bad)?.iter().map(|call| {
                let mut data = Map::from([
                    ("name", Value::from(text(&call["name"])?)),
                    ("args", decode(&call["args"], enums)?),
                ]);
                if let Some(id) = call["id"].as_str() {
                    data.insert("id", id);
                }
                Ok(Value::Map(data))
            });
            let mut all = Map::from([("tool_calls", calls.collect::<Result<Vec<_>, String>>()?)]);
            // What a model wrote for results is any value.
            if let Some(written @ Json::Object(_)) = json.get("results") {
                all.insert("tool_call_results", decode(written, enums)?);
            }
            if let Some(results) = json.get("results").and_then(Json::as_array) {
                let results = results.iter().map(|result| {
                    let mut data = Map::new();
                    for (key, value) in result.as_object().ok_or_else(bad)? {
                        data.insert(key.as_str(), decode(value, enums)?);
                    }
                    Ok(Value::Map(data))
                });
                all.insert("tool_call_results", results.collect::<Result<Vec<_>, String>>()?);
            }
            Value::Map(all)
        }
        "$history" => {
            let turns = body.as_array().ok_or_else(bad)?;
            Value::List(
                turns.iter().map(|turn| entries(turn, enums).map(Value::Map)).collect::<Result<_, _>>()?,
            )
        }
        // A plain object, in results only.
        _ => Value::Map(
            map.iter()
                .map(|(key, value)| Ok((key.clone(), decode(value, enums)?)))
                .collect::<Result<_, String>>()?,
        ),
    })
}

fn utc_as_z(iso: &str) -> String {
    iso.strip_suffix("+00:00").map_or_else(|| iso.to_owned(), |utc| format!("{utc}Z"))
}

/// Whether two values are the same: maps without regard to order, numbers by type and value, datetimes
/// whichever way they write UTC.
pub(crate) fn same(expected: &Value, ours: &Value) -> bool {
    match (expected, ours) {
        (Value::Float(a), Value::Float(b)) => {
            a.partial_cmp(b) == Some(Ordering::Equal) || (a.is_nan() && b.is_nan())
        }
        (Value::String(a), Value::String(b)) => {
            a == b || (a.len() > 16 && a.as_bytes()[10] == b'T' && utc_as_z(a) == utc_as_z(b))
        }
        (Value::List(a), Value::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Map(a), Value::Map(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| same(value, other)))
        }
        (a, b) => a == b,
    }
}
