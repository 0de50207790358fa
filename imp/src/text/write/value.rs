//! A value as data.

use serde::Serialize;
use serde::ser::{self, Serializer};

use super::super::number::Float;
use super::json::{JsonWriter, Layout, NUMBER, RAW, verbatim};
use crate::error::WriteError;
use crate::history;
use crate::media;
use crate::value::{Map, Value};

/// The value as data, exactly: integers of 128 bits, the digits of an `f32`, the order of maps.
///
/// # Errors
///
/// The value's own `Serialize` refuses, a map has keys that are no text, or an integer is above `i128::MAX`.
pub(crate) fn to_value<T: Serialize + ?Sized>(value: &T) -> Result<Value, WriteError> {
    value.serialize(ValueWriter)
}

struct ValueWriter;

macro_rules! integers {
    ($($method:ident: $type:ty),* $(,)?) => {$(
        fn $method(self, value: $type) -> Result<Value, WriteError> {
            Ok(Value::Int(value.into()))
        }
    )*};
}

impl Serializer for ValueWriter {
    type Ok = Value;
    type Error = WriteError;
    type SerializeSeq = List;
    type SerializeTuple = List;
    type SerializeTupleStruct = List;
    type SerializeTupleVariant = List;
    type SerializeMap = Entries;
    type SerializeStruct = Struct;
    type SerializeStructVariant = Struct;

    integers! {
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64, serialize_i128: i128,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64,
    }

    fn serialize_u128(self, value: u128) -> Result<Value, WriteError> {
        i128::try_from(value)
            .map(Value::Int)
            .map_err(|_| WriteError::new(format!("the integer {value} is above i128::MAX")))
    }
    fn serialize_bool(self, value: bool) -> Result<Value, WriteError> {
        Ok(Value::Bool(value))
    }
    fn serialize_f32(self, value: f32) -> Result<Value, WriteError> {
        Ok(Value::Float(Float::Single(value).as_f64()))
    }
    fn serialize_f64(self, value: f64) -> Result<Value, WriteError> {
        Ok(Value::Float(value))
    }
    fn serialize_char(self, value: char) -> Result<Value, WriteError> {
        Ok(Value::String(value.into()))
    }
    fn serialize_str(self, value: &str) -> Result<Value, WriteError> {
        Ok(Value::String(value.to_owned()))
    }
    fn serialize_bytes(self, value: &[u8]) -> Result<Value, WriteError> {
        Ok(Value::List(value.iter().map(|&byte| Value::from(byte)).collect()))
    }
    fn serialize_none(self) -> Result<Value, WriteError> {
        Ok(Value::Null)
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Value, WriteError> {
        value.serialize(self)
    }
    fn serialize_unit(self) -> Result<Value, WriteError> {
        Ok(Value::Null)
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<Value, WriteError> {
        Ok(Value::Null)
    }
    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<Value, WriteError> {
        Ok(Value::from(variant))
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<Value, WriteError> {
        let inner = value.serialize(self)?;
        if name == history::NAME {
            return Ok(match inner {
                Value::Map(map) => Value::Map(history::map_from_data(map)),
                other => other,
            });
        }
        if !matches!(name, media::IMAGE | media::AUDIO | media::FILE) {
            return Ok(inner);
        }
        let part = match inner {
            Value::Map(map) => media::part(name, map),
            _ => None,
        };
        part.map(|part| Value::Part(Box::new(part)))
            .ok_or_else(|| WriteError::new(format!("the name `{name}` is reserved for a type of `imp`")))
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Value, WriteError> {
        Ok(tagged(Some(variant), value.serialize(self)?))
    }
    fn serialize_seq(self, len: Option<usize>) -> Result<List, WriteError> {
        Ok(List { variant: None, items: Vec::with_capacity(len.unwrap_or(0).min(1024)) })
    }
    fn serialize_tuple(self, len: usize) -> Result<List, WriteError> {
        self.serialize_seq(Some(len))
    }
    fn serialize_tuple_struct(self, _: &'static str, len: usize) -> Result<List, WriteError> {
        self.serialize_seq(Some(len))
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<List, WriteError> {
        Ok(List { variant: Some(variant), items: Vec::with_capacity(len) })
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Entries, WriteError> {
        Ok(Entries { map: Map::new(), key: String::new() })
    }
    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Struct, WriteError> {
        Ok(match name {
            NUMBER | RAW => Struct::Verbatim(Value::Null),
            _ => Struct::Object { variant: None, map: Map::new() },
        })
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Struct, WriteError> {
        Ok(Struct::Object { variant: Some(variant), map: Map::new() })
    }
}

fn tagged(variant: Option<&'static str>, value: Value) -> Value {
    match variant {
        Some(variant) => Value::Map(Map::from([(variant, value)])),
        None => value,
    }
}

struct List {
    variant: Option<&'static str>,
    items: Vec<Value>,
}

macro_rules! items {
    ($($trait:ident::$method:ident),* $(,)?) => {$(
        impl ser::$trait for List {
            type Ok = Value;
            type Error = WriteError;
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WriteError> {
                self.items.push(to_value(value)?);
                Ok(())
            }
            fn end(self) -> Result<Value, WriteError> {
                Ok(tagged(self.variant, Value::List(self.items)))
            }
        }
    )*};
}

items! {
    SerializeSeq::serialize_element, SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field, SerializeTupleVariant::serialize_field,
}

struct Entries {
    map: Map,
    key: String,
}

impl ser::SerializeMap for Entries {
    type Ok = Value;
    type Error = WriteError;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), WriteError> {
        self.key = match to_value(key)? {
            Value::String(text) => text,
            Value::Bool(_) | Value::Int(_) | Value::Float(_) => {
                let mut text = String::new();
                key.serialize(JsonWriter::new(&mut text, Layout::Line, false))?;
                text
            }
            _ => return Err(WriteError::new("a map's key must be a text, a number or a boolean")),
        };
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WriteError> {
        self.map.insert(std::mem::take(&mut self.key), to_value(value)?);
        Ok(())
    }
    fn end(self) -> Result<Value, WriteError> {
        Ok(Value::Map(self.map))
    }
}

enum Struct {
    Object { variant: Option<&'static str>, map: Map },
    Verbatim(Value),
}

impl Struct {
    fn field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), WriteError> {
        match self {
            Struct::Object { map, .. } => {
                map.insert(key, to_value(value)?);
            }
            Struct::Verbatim(json) => {
                *json = serde_json::from_str(&verbatim(value)?).map_err(ser::Error::custom)?;
            }
        }
        Ok(())
    }

    fn finish(self) -> Value {
        match self {
            Struct::Object { variant, map } => tagged(variant, Value::Map(map)),
            Struct::Verbatim(json) => json,
        }
    }
}

impl ser::SerializeStruct for Struct {
    type Ok = Value;
    type Error = WriteError;
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), WriteError> {
        self.field(key, value)
    }
    fn end(self) -> Result<Value, WriteError> {
        Ok(self.finish())
    }
}

impl ser::SerializeStructVariant for Struct {
    type Ok = Value;
    type Error = WriteError;
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), WriteError> {
        self.field(key, value)
    }
    fn end(self) -> Result<Value, WriteError> {
        Ok(self.finish())
    }
}
