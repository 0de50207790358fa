//! A value that stands alone in a section.

use serde::Serialize;
use serde::ser::Serializer;

use super::super::number::{Float, push_int};
use super::json::{Compound, MapWriter, StructWriter};
use super::{FieldWriter, Presence};
use crate::error::WriteError;

/// Writes a string, a number, a boolean or null as its field's text, and gives the rest to a JSON writer.
pub(super) struct TopWriter<'w, 'a> {
    pub(super) field: &'w mut FieldWriter<'a>,
    /// Whether the value is inside a `Some`.
    pub(super) optional: bool,
}

macro_rules! integers {
    ($($method:ident: $type:ty),* $(,)?) => {$(
        fn $method(self, value: $type) -> Result<(), WriteError> {
            self.field.presence = Presence::Present;
            push_int(self.field.out, value);
            Ok(())
        }
    )*};
}

impl TopWriter<'_, '_> {}

impl<'w> Serializer for TopWriter<'w, '_> {
    type Ok = ();
    type Error = WriteError;
    type SerializeSeq = Compound<'w>;
    type SerializeTuple = Compound<'w>;
    type SerializeTupleStruct = Compound<'w>;
    type SerializeTupleVariant = Compound<'w>;
    type SerializeMap = MapWriter<'w>;
    type SerializeStruct = StructWriter<'w>;
    type SerializeStructVariant = Compound<'w>;

    integers! {
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64, serialize_i128: i128,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_u128: u128,
    }

    fn serialize_bool(self, value: bool) -> Result<(), WriteError> {
        self.field.bool(value);
        Ok(())
    }
    fn serialize_f32(self, value: f32) -> Result<(), WriteError> {
        self.field.float(Float::Single(value))
    }
    fn serialize_f64(self, value: f64) -> Result<(), WriteError> {
        self.field.float(Float::Double(value))
    }
    fn serialize_char(self, value: char) -> Result<(), WriteError> {
        self.field.char(value, self.optional);
        Ok(())
    }
    fn serialize_str(self, value: &str) -> Result<(), WriteError> {
        self.field.text(value, self.optional);
        Ok(())
    }
    fn serialize_bytes(self, value: &[u8]) -> Result<(), WriteError> {
        value.serialize(self)
    }
    fn serialize_none(self) -> Result<(), WriteError> {
        self.serialize_unit()
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), WriteError> {
        value.serialize(TopWriter { optional: true, ..self })
    }
    fn serialize_unit(self) -> Result<(), WriteError> {
        self.field.null();
        Ok(())
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<(), WriteError> {
        self.serialize_unit()
    }
    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), WriteError> {
        self.field.text(variant, self.optional);
        Ok(())
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), WriteError> {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), WriteError> {
        self.field.json().serialize_newtype_variant(name, index, variant, value)
    }
    fn serialize_seq(self, len: Option<usize>) -> Result<Compound<'w>, WriteError> {
        self.field.json().serialize_seq(len)
    }
    fn serialize_tuple(self, len: usize) -> Result<Compound<'w>, WriteError> {
        self.field.json().serialize_tuple(len)
    }
    fn serialize_tuple_struct(self, name: &'static str, len: usize) -> Result<Compound<'w>, WriteError> {
        self.field.json().serialize_tuple_struct(name, len)
    }
    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Compound<'w>, WriteError> {
        self.field.json().serialize_tuple_variant(name, index, variant, len)
    }
    fn serialize_map(self, len: Option<usize>) -> Result<MapWriter<'w>, WriteError> {
        self.field.json().serialize_map(len)
    }
    fn serialize_struct(self, name: &'static str, len: usize) -> Result<StructWriter<'w>, WriteError> {
        self.field.json().serialize_struct(name, len)
    }
    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Compound<'w>, WriteError> {
        self.field.json().serialize_struct_variant(name, index, variant, len)
    }
}
