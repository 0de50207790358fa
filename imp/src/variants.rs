//! The declared order of an enum's variants.
//!
//! schemars gathers the undocumented unit variants of an enum in front of the documented ones. serde
//! knows the order: a type that asks for an enum offers its variants to the deserializer. So the type
//! is deserialized once for every place in it, by a deserializer that has no values, only a way to
//! that place, and notes what it is offered there.
//!
//! Out of reach are the places that serde reaches through a buffer (inside untagged and internally
//! tagged enums and behind `flatten`), items of a tuple but the first, and input types, which need not
//! implement `Deserialize`: there schemars' order stays.

use serde::de::value::{Error, StrDeserializer};
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess,
    SeqAccess, VariantAccess, Visitor,
};
use serde_json::{Map as JsonMap, Value as Json};

/// No type has so many places that matter; a tree of structs could have exponentially many.
const RUNS: usize = 1000;
const DEPTH: usize = 24;

type Names = &'static [&'static str];

/// Puts the variants of all enums in the schema of `T` into the order of their declaration.
pub(crate) fn declare_order<T: DeserializeOwned>(schema: &mut Json) {
    if has_alternatives(schema) {
        order(schema, &offered(|probe| T::deserialize(probe).err()));
    }
}

/// Whether there is anything to order, so that most types are not probed at all.
fn has_alternatives(schema: &Json) -> bool {
    let mut open = vec![schema];
    while let Some(json) = open.pop() {
        match json {
            Json::Object(map) if map.contains_key("oneOf") => return true,
            Json::Object(map) => open.extend(map.values()),
            Json::Array(items) => open.extend(items),
            _ => {}
        }
    }
    false
}

// Not generic, so that it is compiled once.
fn offered(run: impl Fn(Probe<'_>) -> Option<Error>) -> Vec<(&'static str, Names)> {
    let mut log = Log::default();
    let mut open = vec![Vec::new()];
    for _ in 0..RUNS {
        let Some(way) = open.pop() else { break };
        log = Log { way, enums: log.enums, ..Log::default() };
        // The error is how a run ends.
        let _ = run(Probe { log: &mut log });
        open.extend((0..log.ahead).rev().map(|next| log.way.iter().copied().chain([next]).collect()));
    }
    log.enums
}

#[derive(Default)]
struct Log {
    /// Which field, variant or part to go into at each place that has several.
    way: Vec<usize>,
    at: usize,
    depth: usize,
    /// The types on the way: one that comes back is not gone into again.
    trail: Vec<(&'static str, Names)>,
    /// How many ways lead on from the end of this one.
    ahead: usize,
    enums: Vec<(&'static str, Names)>,
}

impl Log {
    /// Which of `count` parts to go into; none at the end of the way.
    fn choose(&mut self, count: usize) -> Result<usize, Error> {
        if let Some(&part) = self.way.get(self.at) {
            self.at += 1;
            return Ok(part);
        }
        self.ahead = count;
        Err(stop())
    }

    fn enter(&mut self, name: &'static str, parts: Names) -> Result<&'static str, Error> {
        if self.trail.contains(&(name, parts)) {
            return Err(stop());
        }
        self.trail.push((name, parts));
        let part = self.choose(parts.len())?;
        parts.get(part).copied().ok_or_else(stop)
    }
}

fn stop() -> Error {
    Error::custom("")
}

struct Probe<'l> {
    log: &'l mut Log,
}

impl Probe<'_> {
    /// The probe one level down.
    fn down(self) -> Result<Self, Error> {
        self.log.depth += 1;
        if self.log.depth > DEPTH { Err(stop()) } else { Ok(self) }
    }
}

macro_rules! nothing {
    ($($method:ident($($arg:ty),*))*) => {$(
        fn $method<V: Visitor<'de>>(self, $(_: $arg,)* _: V) -> Result<V::Value, Error> {
            Err(stop())
        }
    )*};
}

impl<'de> Deserializer<'de> for Probe<'_> {
    type Error = Error;

    nothing! {
        deserialize_any() deserialize_bool() deserialize_i8() deserialize_i16() deserialize_i32()
        deserialize_i64() deserialize_i128() deserialize_u8() deserialize_u16() deserialize_u32()
        deserialize_u64() deserialize_u128() deserialize_f32() deserialize_f64() deserialize_char()
        deserialize_str() deserialize_string() deserialize_bytes() deserialize_byte_buf()
        deserialize_unit() deserialize_unit_struct(&'static str) deserialize_identifier()
        deserialize_ignored_any()
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self.down()?)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self.down()?)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_seq(self.down()?)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_seq(self.down()?)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_seq(self.down()?)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let key = match self.log.choose(2)? {
            0 => None,
            _ => Some(""),
        };
        visitor.visit_map(Entry { key, probe: self.down()? })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: Names,
        visitor: V,
    ) -> Result<V::Value, Error> {
        let key = Some(self.log.enter(name, fields)?);
        visitor.visit_map(Entry { key, probe: self.down()? })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: Names,
        visitor: V,
    ) -> Result<V::Value, Error> {
        if !self.log.enums.contains(&(name, variants)) {
            self.log.enums.push((name, variants));
        }
        let variant = self.log.enter(name, variants)?;
        visitor.visit_enum(Variant { variant, probe: self.down()? })
    }
}

impl<'de> SeqAccess<'de> for Probe<'_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        seed.deserialize(Probe { log: self.log }).map(Some)
    }
}

/// One entry of a map or struct; the key itself is probed where it is none.
struct Entry<'l> {
    key: Option<&'static str>,
    probe: Probe<'l>,
}

impl<'de> MapAccess<'de> for Entry<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        match self.key {
            Some(key) => seed.deserialize(name(key)).map(Some),
            None => seed.deserialize(Probe { log: self.probe.log }).map(Some),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        seed.deserialize(Probe { log: self.probe.log })
    }
}

fn name(name: &'static str) -> StrDeserializer<'static, Error> {
    name.into_deserializer()
}

struct Variant<'l> {
    variant: &'static str,
    probe: Probe<'l>,
}

impl<'de, 'l> EnumAccess<'de> for Variant<'l> {
    type Error = Error;
    type Variant = Probe<'l>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Probe<'l>), Error> {
        Ok((seed.deserialize(name(self.variant))?, self.probe))
    }
}

impl<'de> VariantAccess<'de> for Probe<'_> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        Err(stop())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_seq(self)
    }

    fn struct_variant<V: Visitor<'de>>(self, fields: Names, visitor: V) -> Result<V::Value, Error> {
        let key = Some(self.log.enter("", fields)?);
        visitor.visit_map(Entry { key, probe: self })
    }
}

/// Orders the alternatives of every enum in the schema whose variants were offered.
fn order(schema: &mut Json, enums: &[(&'static str, Names)]) {
    let mut open = vec![(None, schema)];
    while let Some((known_as, json)) = open.pop() {
        match json {
            Json::Object(map) => {
                let title = map.get("title").and_then(Json::as_str).map(str::to_owned).or(known_as);
                if let Some(Json::Array(branches)) = map.get_mut("oneOf") {
                    order_alternatives(branches, title.as_deref(), enums);
                }
                for (key, inner) in map {
                    if key == "$defs" && inner.is_object() {
                        let defs = inner.as_object_mut().into_iter().flatten();
                        open.extend(defs.map(|(name, def)| (Some(name.clone()), def)));
                    } else {
                        open.push((None, inner));
                    }
                }
            }
            Json::Array(items) => open.extend(items.iter_mut().map(|item| (None, item))),
            _ => {}
        }
    }
}

fn order_alternatives(branches: &mut Vec<Json>, name: Option<&str>, enums: &[(&'static str, Names)]) {
    let mut alternatives: Vec<(String, Json)> = Vec::new();
    for branch in &*branches {
        let Json::Object(map) = branch else { return };
        // The undocumented unit variants come together.
        if let Some(Json::Array(members)) = map.get("enum") {
            for member in members {
                let Some(variant) = member.as_str() else { return };
                let mut single = JsonMap::new();
                single.insert("type".to_owned(), "string".into());
                single.insert("const".to_owned(), variant.into());
                alternatives.push((variant.to_owned(), Json::Object(single)));
            }
            continue;
        }
        let tag = match map.get("const") {
            Some(only) => only.as_str(),
            None => match map.get("required").and_then(Json::as_array).map(Vec::as_slice) {
                Some([only]) => only.as_str(),
                _ => None,
            },
        };
        let Some(tag) = tag else { return };
        alternatives.push((tag.to_owned(), branch.clone()));
    }
    let place = |variants: Names, tag: &str| variants.iter().position(|known| *known == tag);
    let fits = |variants: Names| alternatives.iter().all(|(tag, _)| place(variants, tag).is_some());
    let mut fitting = enums.iter().filter(|(_, variants)| fits(variants)).peekable();
    let Some(&&(_, first)) = fitting.peek() else { return };
    let variants =
        fitting.find(|(offered, _)| Some(*offered) == name).map_or(first, |(_, variants)| variants);
    alternatives.sort_by_key(|(tag, _)| place(variants, tag));
    *branches = alternatives.into_iter().map(|(_, branch)| branch).collect();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meta::{Side, schema_for};
    use crate::types::{Kind, TypeTree};
    use schemars::JsonSchema;
    use serde::Deserialize;

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    #[allow(dead_code, reason = "only described")]
    enum Team {
        /// money
        Atlas,
        Harbor,
        /// identity
        BeaconLight,
        Quill,
    }

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "only described")]
    enum Reversed {
        #[serde(rename = "quill")]
        D,
        /// doc
        #[serde(rename = "beacon_light")]
        C,
        #[serde(rename = "harbor")]
        B,
        #[serde(rename = "atlas")]
        A,
    }

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "only described")]
    enum Step {
        Wait,
        /// Say it.
        Say(Team),
        Look {
            /// where
            at: Vec<Option<Reversed>>,
        },
        /// The end.
        End,
    }

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "only described")]
    struct Plan {
        count: u8,
        steps: std::collections::BTreeMap<String, Step>,
        next: Option<Box<Plan>>,
    }

    /// The members of every choice in the schema, in order.
    fn choices<T: DeserializeOwned + JsonSchema>() -> Vec<Vec<String>> {
        let mut schema = schema_for::<T>(Side::Output);
        declare_order::<T>(&mut schema);
        let mut found = Vec::new();
        let mut open = vec![&schema];
        while let Some(json) = open.pop() {
            match json {
                Json::Object(map) => {
                    if let Some(Json::Array(branches)) = map.get("oneOf") {
                        let tag = |branch: &Json| {
                            let tag = branch.get("const").or_else(|| branch.get("required")?.get(0));
                            tag.and_then(Json::as_str).unwrap_or("?").to_owned()
                        };
                        found.push(branches.iter().map(tag).collect());
                    }
                    open.extend(map.values());
                }
                Json::Array(items) => open.extend(items),
                _ => {}
            }
        }
        found.sort();
        found
    }

    #[test]
    fn variants_stand_as_declared() {
        let team = ["atlas", "harbor", "beacon_light", "quill"];
        let reversed = ["quill", "beacon_light", "harbor", "atlas"];
        let step = ["Wait", "Say", "Look", "End"];
        assert_eq!(choices::<Team>(), [team]);
        assert_eq!(choices::<Vec<Option<Team>>>(), [team]);
        assert_eq!(choices::<Plan>(), [&step, &team, &reversed]);
        // A list of one element is all that the probe has to offer.
        assert_eq!(choices::<(Reversed, u8)>(), [reversed]);
        let mut schema = schema_for::<Team>(Side::Output);
        declare_order::<Team>(&mut schema);
        let tree = TypeTree::compile(&schema).unwrap();
        let Kind::Choice(choice) = tree.root.kind else { panic!("{schema}") };
        assert_eq!(choice.members[2].description.as_deref(), Some("identity"));
    }
}
