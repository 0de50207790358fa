//! A value as JSON.

use serde::Serialize;
use serde::ser::{self, Serializer};

use super::super::json::{push_string, unescaped};
use super::super::number::{Float, Floats, push_float, push_int};
use crate::error::WriteError;

/// The names under which `serde_json`'s own types say what they are, whatever features a program turns on.
pub(super) const NUMBER: &str = "$serde_json::private::Number";
pub(super) const RAW: &str = "$serde_json::private::RawValue";

/// Where the blanks are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// On one line, `, ` between items and `: ` behind keys, as Python's `json.dumps` writes.
    Line,
    /// Without blanks, and with Erlang's floats, as Elixir's Jason writes.
    Compact,
    /// Indented by two spaces, one level in: `json.dumps(…, indent=2)` of an object that holds the value.
    Indented,
}

impl Layout {
    pub(super) fn floats(self) -> Floats {
        match self {
            Layout::Compact => Floats::Erlang,
            Layout::Line | Layout::Indented => Floats::Python,
        }
    }
}

/// A serializer that writes JSON at the end of a text.
#[derive(Debug)]
pub(crate) struct JsonWriter<'a> {
    out: &'a mut String,
    layout: Layout,
    /// Whether the entries of maps are sorted by the bytes of their keys.
    sorted: bool,
    /// Whether a number that is not finite is refused; else it is null.
    strict: bool,
    depth: usize,
}

impl<'a> JsonWriter<'a> {
    pub(crate) fn new(out: &'a mut String, layout: Layout, sorted: bool) -> Self {
        let depth = usize::from(layout == Layout::Indented);
        JsonWriter { out, layout, sorted, strict: false, depth }
    }

    /// The same, with numbers that are not finite refused.
    pub(super) fn strict(self, strict: bool) -> Self {
        JsonWriter { strict, ..self }
    }

    /// The same writer once more, for a value inside.
    pub(super) fn again(&mut self) -> JsonWriter<'_> {
        JsonWriter {
            out: self.out,
            layout: self.layout,
            sorted: self.sorted,
            strict: self.strict,
            depth: self.depth,
        }
    }

    pub(super) fn out(&mut self) -> &mut String {
        self.out
    }

    pub(super) fn open(&mut self, bracket: char) {
        self.out.push(bracket);
        self.depth += 1;
    }

    pub(super) fn close(&mut self, bracket: char, empty: bool) {
        self.depth -= 1;
        if !empty {
            self.line();
        }
        self.out.push(bracket);
    }

    /// What stands in front of an item.
    pub(super) fn separate(&mut self, first: bool) {
        if !first {
            self.out.push_str(if self.layout == Layout::Line { ", " } else { "," });
        }
        self.line();
    }

    fn separator_len(&self) -> usize {
        match self.layout {
            Layout::Compact => 1,
            Layout::Line => 2,
            Layout::Indented => 2 + 2 * self.depth,
        }
    }

    fn line(&mut self) {
        if self.layout == Layout::Indented {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n("  ", self.depth));
        }
    }

    pub(super) fn colon(&mut self) {
        self.out.push_str(if self.layout == Layout::Compact { ":" } else { ": " });
    }

    pub(super) fn float(&mut self, value: Float) -> Result<(), WriteError> {
        if value.is_finite() {
            push_float(self.out, value, self.layout.floats());
        } else if self.strict {
            return Err(super::not_finite());
        } else {
            self.out.push_str("null");
        }
        Ok(())
    }

    pub(super) fn string(&mut self, text: &str) {
        push_string(self.out, text);
    }

    fn list(mut self) -> Compound<'a> {
        self.open('[');
        Compound { json: self, close: "]", first: true }
    }

    fn object(mut self) -> Compound<'a> {
        self.open('{');
        Compound { json: self, close: "}", first: true }
    }

    /// `{"variant": ` with its value and `}` to follow.
    fn variant(&mut self, variant: &str) {
        self.open('{');
        self.separate(true);
        push_string(self.out, variant);
        self.colon();
    }
}

macro_rules! integers {
    ($($method:ident: $type:ty),* $(,)?) => {$(
        fn $method(self, value: $type) -> Result<(), WriteError> {
            push_int(self.out, value);
            Ok(())
        }
    )*};
}

impl<'a> Serializer for JsonWriter<'a> {
    type Ok = ();
    type Error = WriteError;
    type SerializeSeq = Compound<'a>;
    type SerializeTuple = Compound<'a>;
    type SerializeTupleStruct = Compound<'a>;
    type SerializeTupleVariant = Compound<'a>;
    type SerializeMap = MapWriter<'a>;
    type SerializeStruct = StructWriter<'a>;
    type SerializeStructVariant = Compound<'a>;

    integers! {
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64, serialize_i128: i128,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_u128: u128,
    }

    fn serialize_bool(self, value: bool) -> Result<(), WriteError> {
        self.out.push_str(if value { "true" } else { "false" });
        Ok(())
    }
    fn serialize_f32(mut self, value: f32) -> Result<(), WriteError> {
        self.float(Float::Single(value))
    }
    fn serialize_f64(mut self, value: f64) -> Result<(), WriteError> {
        self.float(Float::Double(value))
    }
    fn serialize_char(mut self, value: char) -> Result<(), WriteError> {
        self.string(value.encode_utf8(&mut [0; 4]));
        Ok(())
    }
    fn serialize_str(mut self, value: &str) -> Result<(), WriteError> {
        self.string(value);
        Ok(())
    }
    fn serialize_bytes(self, value: &[u8]) -> Result<(), WriteError> {
        value.serialize(self)
    }
    fn serialize_none(self) -> Result<(), WriteError> {
        self.serialize_unit()
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), WriteError> {
        value.serialize(self)
    }
    fn serialize_unit(self) -> Result<(), WriteError> {
        self.out.push_str("null");
        Ok(())
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<(), WriteError> {
        self.serialize_unit()
    }
    fn serialize_unit_variant(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), WriteError> {
        self.string(variant);
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
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), WriteError> {
        self.variant(variant);
        value.serialize(self.again())?;
        self.close('}', false);
        Ok(())
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<Compound<'a>, WriteError> {
        Ok(self.list())
    }
    fn serialize_tuple(self, _: usize) -> Result<Compound<'a>, WriteError> {
        Ok(self.list())
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Compound<'a>, WriteError> {
        Ok(self.list())
    }
    fn serialize_tuple_variant(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'a>, WriteError> {
        self.variant(variant);
        self.open('[');
        Ok(Compound { json: self, close: "]}", first: true })
    }
    fn serialize_map(mut self, _: Option<usize>) -> Result<MapWriter<'a>, WriteError> {
        self.open('{');
        let start = self.out.len();
        Ok(MapWriter { json: self, start, entries: Vec::new(), first: true })
    }
    fn serialize_struct(self, name: &'static str, _: usize) -> Result<StructWriter<'a>, WriteError> {
        Ok(match name {
            NUMBER | RAW => StructWriter::Verbatim(self),
            _ => StructWriter::Object(self.object()),
        })
    }
    fn serialize_struct_variant(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'a>, WriteError> {
        self.variant(variant);
        self.open('{');
        Ok(Compound { json: self, close: "}}", first: true })
    }
}

/// The items of a list or the fields of a struct.
#[derive(Debug)]
pub(crate) struct Compound<'a> {
    json: JsonWriter<'a>,
    close: &'static str,
    first: bool,
}

impl Compound<'_> {
    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WriteError> {
        self.json.separate(std::mem::take(&mut self.first));
        value.serialize(self.json.again())
    }

    fn entry<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), WriteError> {
        self.json.separate(std::mem::take(&mut self.first));
        self.json.string(key);
        self.json.colon();
        value.serialize(self.json.again())
    }

    fn finish(mut self) {
        let mut empty = self.first;
        for bracket in self.close.chars() {
            self.json.close(bracket, empty);
            empty = false;
        }
    }
}

macro_rules! items {
    ($($trait:ident::$method:ident),* $(,)?) => {$(
        impl ser::$trait for Compound<'_> {
            type Ok = ();
            type Error = WriteError;
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WriteError> {
                self.item(value)
            }
            fn end(self) -> Result<(), WriteError> {
                self.finish();
                Ok(())
            }
        }
    )*};
}

items! {
    SerializeSeq::serialize_element, SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field, SerializeTupleVariant::serialize_field,
}

impl ser::SerializeStructVariant for Compound<'_> {
    type Ok = ();
    type Error = WriteError;
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), WriteError> {
        self.entry(key, value)
    }
    fn end(self) -> Result<(), WriteError> {
        self.finish();
        Ok(())
    }
}

/// A struct, or one of `serde_json`'s types that is JSON already.
#[derive(Debug)]
pub(crate) enum StructWriter<'a> {
    Object(Compound<'a>),
    Verbatim(JsonWriter<'a>),
}

impl ser::SerializeStruct for StructWriter<'_> {
    type Ok = ();
    type Error = WriteError;
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), WriteError> {
        match self {
            StructWriter::Object(object) => object.entry(key, value),
            StructWriter::Verbatim(json) => {
                json.out.push_str(&verbatim(value)?);
                Ok(())
            }
        }
    }
    fn end(self) -> Result<(), WriteError> {
        if let StructWriter::Object(object) = self {
            object.finish();
        }
        Ok(())
    }
}

/// The JSON that a `Number` or a `RawValue` gives as a text.
pub(super) fn verbatim<T: Serialize + ?Sized>(value: &T) -> Result<String, WriteError> {
    let mut quoted = String::new();
    value.serialize(JsonWriter::new(&mut quoted, Layout::Line, false))?;
    match quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        Some(text) => Ok(unescaped(text).into_owned()),
        None => Ok(quoted),
    }
}

/// The entries of a map, whose keys may be numbers and booleans too.
#[derive(Debug)]
pub(crate) struct MapWriter<'a> {
    json: JsonWriter<'a>,
    start: usize,
    /// Of each entry: where it starts, behind its separator, and where its key ends.
    entries: Vec<(usize, usize)>,
    first: bool,
}

impl ser::SerializeMap for MapWriter<'_> {
    type Ok = ();
    type Error = WriteError;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), WriteError> {
        self.json.separate(std::mem::take(&mut self.first));
        let start = self.json.out.len();
        key.serialize(self.json.again())?;
        // Numbers and booleans are keys too, in quotes.
        match self.json.out.as_bytes().get(start) {
            Some(b'"') => {}
            Some(b'0'..=b'9' | b'-' | b't' | b'f') => {
                self.json.out.insert(start, '"');
                self.json.out.push('"');
            }
            _ => return Err(WriteError::new("a map's key must be a text, a number or a boolean")),
        }
        if self.json.sorted {
            self.entries.push((start, self.json.out.len()));
        }
        self.json.colon();
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WriteError> {
        value.serialize(self.json.again())
    }
    fn end(mut self) -> Result<(), WriteError> {
        if self.entries.len() > 1 {
            let separator = self.json.separator_len();
            sort_entries(self.json.out, self.start, &self.entries, separator);
        }
        self.json.close('}', self.first);
        Ok(())
    }
}

/// Sorts entries that were written one after another from `start` on, each but the first behind a separator.
fn sort_entries(out: &mut String, start: usize, entries: &[(usize, usize)], separator: usize) {
    let key = |&(start, end): &(usize, usize)| unescaped(out.get(start + 1..end - 1).unwrap_or_default());
    if entries.is_sorted_by(|a, b| key(a).as_bytes() <= key(b).as_bytes()) {
        return;
    }
    let mut pieces = Vec::with_capacity(entries.len());
    for (at, entry) in entries.iter().enumerate() {
        let end = entries.get(at + 1).map_or(out.len(), |next| next.0 - separator);
        pieces.push((key(entry), entry.0, end));
    }
    pieces.sort_by(|a, b| a.0.as_bytes().cmp(b.0.as_bytes()));
    let first = entries.first().map_or(start, |entry| entry.0);
    let between =
        entries.get(1).and_then(|second| out.get(second.0 - separator..second.0)).unwrap_or_default();
    let mut body = String::with_capacity(out.len() - start);
    body.push_str(out.get(start..first).unwrap_or_default());
    for (place, (_, from, to)) in pieces.iter().enumerate() {
        if place > 0 {
            body.push_str(between);
        }
        body.push_str(out.get(*from..*to).unwrap_or_default());
    }
    out.truncate(start);
    out.push_str(&body);
}
