//! serde's side of the reader: a value inside a text of JSON.
//!
//! The type says what it wants, and only there a value of a neighbouring type may be taken for it. What is
//! generic here is compiled for every type, so it only looks, asks the parser and calls the visitor.

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor,
    value::{CowStrDeserializer, StrDeserializer, StringDeserializer},
};

use super::failure::{Failure, Step, Why};
use super::forgive::Slips;
use super::parser::{Parser, Peek, Piece};
use super::scalar::{self, Number};
use crate::dialect::Dialect;

/// The name under which `serde_json`'s `RawValue` asks for the text of a value.
pub(super) const RAW: &str = "$serde_json::private::RawValue";

pub(super) fn visit_piece<'de, V: Visitor<'de>>(piece: Piece<'de>, visitor: V) -> Result<V::Value, Failure> {
    match piece {
        Piece::Borrowed(text) => visitor.visit_borrowed_str(text),
        Piece::Owned(text) => visitor.visit_string(text),
    }
}

/// A number as it is for a type that did not say what it wants. serde knows no integers of 128 bits there.
#[allow(clippy::cast_precision_loss, reason = "serde_json reads an integer beyond 64 bits as a float too")]
pub(super) fn visit_number<'de, V: Visitor<'de>>(number: Number, visitor: V) -> Result<V::Value, Failure> {
    match number {
        Number::Int(value) => match (u64::try_from(value), i64::try_from(value)) {
            (Ok(value), _) => visitor.visit_u64(value),
            (_, Ok(value)) => visitor.visit_i64(value),
            _ => visitor.visit_f64(value as f64),
        },
        Number::Big(value) => visitor.visit_f64(value as f64),
        Number::Float(value) => visitor.visit_f64(value),
    }
}

/// Why an integer does not fit into its type.
#[cold]
pub(super) fn out_of_range(
    number: Number,
    min: &dyn std::fmt::Display,
    max: &dyn std::fmt::Display,
) -> Failure {
    // A type's least value is not positive, its greatest is.
    let message = match number {
        Number::Int(value) if value < 0 => format!("must be >= {min}"),
        _ => format!("must be <= {max}"),
    };
    Failure::new(Why::Bound, message).with_expected("integer")
}

/// An integer as the type that was asked for.
macro_rules! visit_integer {
    ($number:expr, $visitor:expr, $type:ty, $visit:ident) => {{
        let number = $number;
        let fit = match number {
            Number::Int(value) => <$type>::try_from(value).ok(),
            Number::Big(value) => <$type>::try_from(value).ok(),
            Number::Float(_) => None,
        };
        match fit {
            Some(value) => $visitor.$visit(value),
            None => Err($crate::text::read::de::out_of_range(number, &<$type>::MIN, &<$type>::MAX)),
        }
    }};
}
pub(super) use visit_integer;

impl<'de> Parser<'de> {
    /// Takes a value of a neighbouring type, if that is allowed.
    fn type_slip(&mut self, at: usize) -> bool {
        self.allows(Slips::TYPE) && self.forgive(Slips::TYPE, at)
    }

    /// The text of a string, or of a text without quotes.
    fn text(&mut self, peek: Peek) -> Result<Piece<'de>, Failure> {
        if peek == Peek::Bare { self.bare() } else { self.string() }
    }

    fn integer(&mut self) -> Result<Number, Failure> {
        let peek = self.peek()?;
        let start = self.pos;
        let number = match peek {
            Peek::Number => match self.number()? {
                Ok(Number::Float(value)) => {
                    scalar::whole(value).map(Number::Int).filter(|_| self.type_slip(start))
                }
                Ok(number) => return Ok(number),
                Err(_) => None,
            },
            Peek::String | Peek::Bare if self.allows(Slips::TYPE) => {
                let text = self.text(peek)?;
                scalar::integer(text.trim(), self.dialect).filter(|_| self.type_slip(start))
            }
            _ => None,
        };
        number.ok_or_else(|| Failure::expected("integer").at(start))
    }

    fn float(&mut self) -> Result<f64, Failure> {
        let peek = self.peek()?;
        let start = self.pos;
        let number = match peek {
            Peek::Number => match self.number()? {
                Ok(Number::Float(value)) => Some(value),
                // From its text, so that it is rounded once.
                Ok(_) => self.text.get(start..self.pos).and_then(|text| text.parse().ok()),
                Err(_) => None,
            },
            Peek::String | Peek::Bare if self.allows(Slips::TYPE) => {
                let text = self.text(peek)?;
                let words = self.allows(Slips::NOT_FINITE);
                scalar::float(text.trim(), self.dialect, words).filter(|_| self.type_slip(start))
            }
            _ => None,
        };
        number.ok_or_else(|| Failure::expected("number").at(start))
    }

    /// A float of 32 bits, from its own digits; one that does not fit is no number.
    fn single(&mut self) -> Result<f32, Failure> {
        self.blank()?;
        let start = self.pos;
        let double = self.float()?;
        let text = self.text.get(start..self.pos).unwrap_or_default();
        #[allow(clippy::cast_possible_truncation, reason = "checked below")]
        let single = text.parse().unwrap_or(double as f32);
        if single.is_infinite() && double.is_finite() {
            return Err(Failure::expected("number").at(start));
        }
        Ok(single)
    }

    fn boolean(&mut self) -> Result<bool, Failure> {
        let peek = self.peek()?;
        let start = self.pos;
        let value = match peek {
            Peek::True | Peek::False => {
                self.word();
                return Ok(peek == Peek::True);
            }
            Peek::Number if self.allows(Slips::TYPE) => match self.number()? {
                Ok(Number::Int(value @ (0 | 1))) => Some(value == 1),
                Ok(Number::Float(value)) => scalar::as_truth(value),
                _ => None,
            },
            Peek::String | Peek::Bare if self.allows(Slips::TYPE) => {
                let text = self.text(peek)?;
                scalar::boolean(text.trim(), self.dialect)
            }
            _ => None,
        };
        value.filter(|_| self.type_slip(start)).ok_or_else(|| Failure::expected("boolean").at(start))
    }

    fn expect_text(&mut self) -> Result<Piece<'de>, Failure> {
        let peek = self.peek()?;
        match peek {
            Peek::String | Peek::Bare => self.text(peek),
            // Digits and dashes without quotes are a text.
            Peek::Number if self.allows(Slips::BARE_TEXT) => {
                let start = self.pos;
                match self.number()? {
                    Err(text) => Ok(text),
                    Ok(_) => Err(Failure::expected("string").at(start)),
                }
            }
            _ => Err(Failure::expected("string").at(self.pos)),
        }
    }

    fn expect_list(&mut self) -> Result<(), Failure> {
        match self.peek()? {
            Peek::List => self.open(),
            _ => Err(Failure::expected("array").at(self.pos)),
        }
    }

    fn expect_object(&mut self) -> Result<(), Failure> {
        match self.peek()? {
            Peek::Object => self.open(),
            _ => Err(Failure::expected("object").at(self.pos)),
        }
    }

    /// The text of the next value, whatever it is.
    fn raw(&mut self) -> Result<&'de str, Failure> {
        self.blank()?;
        let start = self.pos;
        self.skip()?;
        Ok(self.text.get(start..self.pos).unwrap_or_default())
    }
}

macro_rules! integers {
    ($($method:ident: $type:ty => $visit:ident),* $(,)?) => {$(
        #[inline]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
            let number = self.integer()?;
            let result: Result<V::Value, Failure> = visit_integer!(number, visitor, $type, $visit);
            result
        }
    )*};
}

impl<'de> Deserializer<'de> for &mut Parser<'de> {
    type Error = Failure;

    integers! {
        deserialize_i8: i8 => visit_i8, deserialize_i16: i16 => visit_i16, deserialize_i32: i32 => visit_i32,
        deserialize_i64: i64 => visit_i64, deserialize_i128: i128 => visit_i128, deserialize_u8: u8 => visit_u8,
        deserialize_u16: u16 => visit_u16, deserialize_u32: u32 => visit_u32, deserialize_u64: u64 => visit_u64,
        deserialize_u128: u128 => visit_u128,
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        match self.peek()? {
            Peek::Null => {
                self.word();
                visitor.visit_unit()
            }
            peek @ (Peek::True | Peek::False) => {
                self.word();
                visitor.visit_bool(peek == Peek::True)
            }
            Peek::Number => {
                let start = self.pos;
                match self.number()? {
                    // serde_json's `-0` is a float too.
                    Ok(Number::Int(0)) if self.text.as_bytes().get(start) == Some(&b'-') => {
                        visitor.visit_f64(-0.0)
                    }
                    Ok(number) => visit_number(number, visitor),
                    Err(text) => visit_piece(text, visitor),
                }
            }
            Peek::String => visit_piece(self.string()?, visitor),
            Peek::Bare => match self.bare_value()? {
                crate::value::Value::Float(value) => visitor.visit_f64(value),
                crate::value::Value::String(text) => visitor.visit_string(text),
                _ => visitor.visit_unit(),
            },
            Peek::List => self.deserialize_seq(visitor),
            Peek::Object => self.deserialize_map(visitor),
        }
    }

    #[inline]
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        let value = self.boolean()?;
        visitor.visit_bool(value)
    }

    #[inline]
    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        let value = self.single()?;
        visitor.visit_f32(value)
    }

    #[inline]
    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        let value = self.float()?;
        visitor.visit_f64(value)
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.deserialize_str(visitor)
    }

    #[inline]
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        let piece = self.expect_text()?;
        visit_piece(piece, visitor)
    }

    #[inline]
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        match self.peek()? {
            Peek::List => self.deserialize_seq(visitor),
            _ => match self.expect_text()? {
                Piece::Borrowed(text) => visitor.visit_borrowed_bytes(text.as_bytes()),
                Piece::Owned(text) => visitor.visit_byte_buf(text.into_bytes()),
            },
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.deserialize_bytes(visitor)
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        if self.peek()? == Peek::Null {
            self.word();
            return visitor.visit_none();
        }
        self.enter()?;
        let value = visitor.visit_some(&mut *self)?;
        self.leave();
        Ok(value)
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        if self.peek()? != Peek::Null {
            return Err(Failure::expected("null").at(self.pos));
        }
        self.word();
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Failure> {
        self.deserialize_unit(visitor)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Failure> {
        if name == RAW {
            return visitor.visit_map(RawAccess(Some(self.raw()?.into())));
        }
        self.enter()?;
        let value = visitor.visit_newtype_struct(&mut *self)?;
        self.leave();
        Ok(value)
    }

    #[inline]
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.expect_list()?;
        let value = visitor.visit_seq(Items { parser: self, next: 0 })?;
        self.close(b']')?;
        Ok(value)
    }

    #[inline]
    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Failure> {
        self.deserialize_seq(visitor)
    }

    #[inline]
    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Failure> {
        self.deserialize_seq(visitor)
    }

    #[inline]
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.expect_object()?;
        let value = visitor.visit_map(Entries { parser: self, first: true, key: 0 })?;
        self.close(b'}')?;
        Ok(value)
    }

    // A struct is read from an object only: a derived visitor would take a list as well, by position.
    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        match self.peek()? {
            Peek::Object => {
                self.open()?;
                if !self.more(b'}', true)? {
                    return Err(Failure::new(Why::Type, scalar::one_of(names.iter().copied())).at(self.pos));
                }
                let value = visitor.visit_enum(Variant { parser: &mut *self, name: "".into() })?;
                self.close(b'}')?;
                Ok(value)
            }
            Peek::String | Peek::Bare => {
                let start = self.pos;
                let name = self.expect_text()?;
                visitor
                    .visit_enum(CowStrDeserializer::new(name))
                    .map_err(|failure: Failure| failure.at(start))
            }
            _ => Err(Failure::new(Why::Type, scalar::one_of(names.iter().copied())).at(self.pos)),
        }
    }

    #[inline]
    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.deserialize_str(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.skip()?;
        visitor.visit_unit()
    }
}

/// The items of a list.
struct Items<'p, 'de> {
    parser: &'p mut Parser<'de>,
    next: usize,
}

impl<'de> SeqAccess<'de> for Items<'_, 'de> {
    type Error = Failure;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Failure> {
        let at = self.next;
        if !self.parser.more(b']', at == 0)? {
            return Ok(None);
        }
        self.next += 1;
        let start = self.parser.pos;
        match seed.deserialize(&mut *self.parser) {
            Ok(value) => Ok(Some(value)),
            Err(failure) => Err(failure.at(start).inside(Step::Index(at))),
        }
    }
}

/// The entries of an object.
struct Entries<'p, 'de> {
    parser: &'p mut Parser<'de>,
    first: bool,
    /// Where the last key begins.
    key: usize,
}

impl Entries<'_, '_> {
    /// The last key once more, for the path of a failure.
    #[cold]
    fn step(&self) -> Step {
        Step::Key(key_at(self.parser, self.key))
    }
}

#[cold]
fn key_at(parser: &Parser<'_>, at: usize) -> String {
    let mut again = Parser::new(parser.text, Slips::of(Dialect::Dspy), parser.dialect);
    again.pos = at;
    again.key().map(Piece::into_owned).unwrap_or_default()
}

impl<'de> MapAccess<'de> for Entries<'_, 'de> {
    type Error = Failure;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Failure> {
        if !self.parser.more(b'}', self.first)? {
            return Ok(None);
        }
        self.first = false;
        self.key = self.parser.pos;
        let key = self.parser.key()?;
        let value = seed.deserialize(Key { text: key, dialect: self.parser.dialect });
        match value {
            Ok(value) => Ok(Some(value)),
            Err(failure) => Err(failure.at(self.key)),
        }
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Failure> {
        self.parser.colon()?;
        self.parser.blank()?;
        let start = self.parser.pos;
        match seed.deserialize(&mut *self.parser) {
            Ok(value) => Ok(value),
            Err(failure) => Err(failure.at(start).inside(self.step())),
        }
    }
}

/// A key of an object: a text, or what a text spells.
pub(super) struct Key<'de> {
    pub(super) text: Piece<'de>,
    pub(super) dialect: Dialect,
}

macro_rules! key_integers {
    ($($method:ident: $type:ty => $visit:ident),* $(,)?) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
            match scalar::integer(&self.text, self.dialect) {
                Some(number) => visit_integer!(number, visitor, $type, $visit),
                None => Err(Failure::expected("integer")),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Key<'de> {
    type Error = Failure;

    key_integers! {
        deserialize_i8: i8 => visit_i8, deserialize_i16: i16 => visit_i16, deserialize_i32: i32 => visit_i32,
        deserialize_i64: i64 => visit_i64, deserialize_i128: i128 => visit_i128, deserialize_u8: u8 => visit_u8,
        deserialize_u16: u16 => visit_u16, deserialize_u32: u32 => visit_u32, deserialize_u64: u64 => visit_u64,
        deserialize_u128: u128 => visit_u128,
    }

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visit_piece(self.text, visitor)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        match &*self.text {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            _ => Err(Failure::expected("boolean")),
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        match scalar::float(&self.text, self.dialect, false).and_then(|_| self.text.parse().ok()) {
            Some(value) => visitor.visit_f32(value),
            None => Err(Failure::expected("number")),
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        match scalar::float(&self.text, self.dialect, false) {
            Some(value) => visitor.visit_f64(value),
            None => Err(Failure::expected("number")),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Failure> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        visitor.visit_enum(CowStrDeserializer::new(self.text))
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        match self.text {
            Piece::Borrowed(text) => visitor.visit_borrowed_bytes(text.as_bytes()),
            Piece::Owned(text) => visitor.visit_byte_buf(text.into_bytes()),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.deserialize_bytes(visitor)
    }

    #[inline]
    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visit_piece(self.text, visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        char str string unit unit_struct seq tuple tuple_struct map struct
    }
}

/// A variant with content: the only entry of an object.
struct Variant<'p, 'de> {
    parser: &'p mut Parser<'de>,
    name: Piece<'de>,
}

impl<'de> EnumAccess<'de> for Variant<'_, 'de> {
    type Error = Failure;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(mut self, seed: V) -> Result<(V::Value, Self), Failure> {
        let start = self.parser.pos;
        self.name = self.parser.key()?;
        let key = Key { text: self.name.clone(), dialect: self.parser.dialect };
        let value = seed.deserialize(key).map_err(|failure| failure.at(start))?;
        self.parser.colon()?;
        self.parser.blank()?;
        Ok((value, self))
    }
}

impl Variant<'_, '_> {
    #[cold]
    fn step(name: Piece<'_>, start: usize) -> impl FnOnce(Failure) -> Failure {
        let name = name.into_owned();
        move |failure| failure.at(start).inside(Step::Key(name))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, 'de> {
    type Error = Failure;

    fn unit_variant(self) -> Result<(), Failure> {
        serde::Deserialize::deserialize(self.parser)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Failure> {
        let start = self.parser.pos;
        seed.deserialize(self.parser).map_err(|failure| Variant::step(self.name, start)(failure))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Failure> {
        let start = self.parser.pos;
        self.parser.deserialize_seq(visitor).map_err(|failure| Variant::step(self.name, start)(failure))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        let start = self.parser.pos;
        self.parser.deserialize_map(visitor).map_err(|failure| Variant::step(self.name, start)(failure))
    }
}

/// The text of a value, in the one shape that `serde_json`'s `RawValue` understands.
pub(super) struct RawAccess<'de>(pub(super) Option<Piece<'de>>);

impl<'de> MapAccess<'de> for RawAccess<'de> {
    type Error = Failure;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Failure> {
        match self.0 {
            Some(_) => seed.deserialize(StrDeserializer::new(RAW)).map(Some),
            None => Ok(None),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Failure> {
        // As an owned text, which is the only kind that a boxed `RawValue` takes.
        let text = self.0.take().unwrap_or_default().into_owned();
        seed.deserialize(StringDeserializer::new(text))
    }
}
