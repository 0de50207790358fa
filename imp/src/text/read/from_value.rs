//! serde's side of a value that was read already, with its types settled.

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, VariantAccess, Visitor,
    value::{MapDeserializer, SeqDeserializer, StringDeserializer},
};

use super::de::{RAW, RawAccess, visit_integer, visit_number};
use super::failure::Failure;
use super::scalar::Number;
use crate::value::{Map, Value};

/// Gives a value to a type's `Deserialize`.
pub(super) struct FromValue(pub(super) Value);

impl IntoDeserializer<'_, Failure> for FromValue {
    type Deserializer = Self;
    fn into_deserializer(self) -> Self {
        self
    }
}

fn list<'de, V: Visitor<'de>>(items: Vec<Value>, visitor: V) -> Result<V::Value, Failure> {
    let mut items = SeqDeserializer::new(items.into_iter().map(FromValue));
    let value = visitor.visit_seq(&mut items)?;
    items.end()?;
    Ok(value)
}

fn map<'de, V: Visitor<'de>>(entries: Map, visitor: V) -> Result<V::Value, Failure> {
    let mut entries =
        MapDeserializer::new(entries.into_iter().map(|(key, value)| (Key(key), FromValue(value))));
    let value = visitor.visit_map(&mut entries)?;
    entries.end()?;
    Ok(value)
}

macro_rules! integers {
    ($($method:ident: $type:ty => $visit:ident),* $(,)?) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
            match self.0 {
                Value::Int(value) => visit_integer!(Number::Int(value), visitor, $type, $visit),
                _ => Err(Failure::expected("integer")),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for FromValue {
    type Error = Failure;

    integers! {
        deserialize_i8: i8 => visit_i8, deserialize_i16: i16 => visit_i16, deserialize_i32: i32 => visit_i32,
        deserialize_i64: i64 => visit_i64, deserialize_i128: i128 => visit_i128, deserialize_u8: u8 => visit_u8,
        deserialize_u16: u16 => visit_u16, deserialize_u32: u32 => visit_u32, deserialize_u64: u64 => visit_u64,
        deserialize_u128: u128 => visit_u128,
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(value),
            Value::Int(value) => visit_number(Number::Int(value), visitor),
            Value::Float(value) => visitor.visit_f64(value),
            Value::String(text) => visitor.visit_string(text),
            Value::List(items) => list(items, visitor),
            Value::Map(entries) => map(entries, visitor),
            // Never made from text.
            Value::Part(_) => Err(Failure::expected("value")),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Failure> {
        if name != RAW {
            return visitor.visit_newtype_struct(self);
        }
        let json = serde_json::to_string(&self.0).map_err(serde::de::Error::custom)?;
        visitor.visit_map(RawAccess(Some(json.into())))
    }

    // A struct is read from an object only, as everywhere.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        match self.0 {
            Value::Map(entries) => map(entries, visitor),
            _ => Err(Failure::expected("object")),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        match self.0 {
            Value::String(name) => visitor.visit_enum(StringDeserializer::new(name)),
            Value::Map(entries) if entries.len() == 1 => match entries.into_iter().next() {
                Some((name, value)) => visitor.visit_enum(Variant { name, value }),
                None => Err(Failure::expected("object")),
            },
            _ => Err(Failure::expected("object")),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        bool f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map identifier
    }
}

/// A key, which may spell a number.
struct Key(String);

impl<'de> IntoDeserializer<'de, Failure> for Key {
    type Deserializer = super::de::Key<'de>;
    fn into_deserializer(self) -> Self::Deserializer {
        super::de::Key { text: self.0.into(), dialect: crate::dialect::Dialect::Plain }
    }
}

struct Variant {
    name: String,
    value: Value,
}

impl<'de> EnumAccess<'de> for Variant {
    type Error = Failure;
    type Variant = Content;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Content), Failure> {
        let name = seed.deserialize(StringDeserializer::new(self.name))?;
        Ok((name, Content(self.value)))
    }
}

/// What a variant holds.
struct Content(Value);

impl<'de> VariantAccess<'de> for Content {
    type Error = Failure;

    fn unit_variant(self) -> Result<(), Failure> {
        if self.0.is_null() { Ok(()) } else { Err(Failure::expected("null")) }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Failure> {
        seed.deserialize(FromValue(self.0))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Failure> {
        match self.0 {
            Value::List(items) => list(items, visitor),
            _ => Err(Failure::expected("array")),
        }
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        match self.0 {
            Value::Map(entries) => map(entries, visitor),
            _ => Err(Failure::expected("object")),
        }
    }
}
