//! Turns as JSON: what JSON has no form for is an object with one key that says what it is.
//!
//! An image is `{"$imp::Image": {"url": …}}`. A map from outside that looks like that is `{"$imp::Map": …}`, so
//! that text can never become an image by being stored and loaded.

use serde::ser::{SerializeMap as _, SerializeSeq as _};
use serde::{Serialize, Serializer};

use crate::media;
use crate::message::Part;
use crate::value::{Map, Value};

const PREFIX: &str = "$imp::";
const MAP: &str = "$imp::Map";

/// A value as [`map_from_data`] reads it.
pub(super) struct AsData<'a>(pub(super) &'a Value);

/// The entries of a map as [`map_from_data`] reads them.
pub(super) struct MapAsData<'a>(pub(super) &'a Map);

impl Serialize for MapAsData<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in self.0.iter() {
            map.serialize_entry(key, &AsData(value))?;
        }
        map.end()
    }
}

impl Serialize for AsData<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let tagged = |tag: &str, map: &Map, serializer: S| {
            let mut outer = serializer.serialize_map(Some(1))?;
            outer.serialize_entry(tag, &MapAsData(map))?;
            outer.end()
        };
        match self.0 {
            Value::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    list.serialize_element(&AsData(item))?;
                }
                list.end()
            }
            Value::Map(map) if looks_tagged(map) => tagged(MAP, map, serializer),
            Value::Map(map) => MapAsData(map).serialize(serializer),
            Value::Part(part) => match media::entries(part) {
                Some((tag, entries)) => tagged(tag, &entries, serializer),
                None => match &**part {
                    Part::Text(text) => text.serialize(serializer),
                    _ => serializer.serialize_unit(),
                },
            },
            other => other.serialize(serializer),
        }
    }
}

fn looks_tagged(map: &Map) -> bool {
    map.len() == 1 && map.keys().all(|key| key.starts_with(PREFIX))
}

/// The inverse of [`MapAsData`].
pub(crate) fn map_from_data(map: Map) -> Map {
    map.into_iter().map(|(key, value)| (key, from_data(value))).collect()
}

fn from_data(value: Value) -> Value {
    match value {
        Value::List(items) => Value::List(items.into_iter().map(from_data).collect()),
        Value::Map(map) if looks_tagged(&map) => {
            let tag = map.keys().next().unwrap_or_default().to_owned();
            match (tag.as_str(), map.get(&tag)) {
                (MAP, Some(Value::Map(inner))) => Value::Map(map_from_data(inner.clone())),
                (tag, Some(Value::Map(inner))) => match media::part(tag, inner.clone()) {
                    Some(part) => Value::Part(Box::new(part)),
                    None => Value::Map(map_from_data(map)),
                },
                _ => Value::Map(map_from_data(map)),
            }
        }
        Value::Map(map) => Value::Map(map_from_data(map)),
        other => other,
    }
}
