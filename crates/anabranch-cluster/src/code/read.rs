//! Reads values.

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{self, DeserializeSeed, Deserializer, IntoDeserializer, Unexpected, Visitor};

use super::{Failure, tag};

/// Values may be so deep in each other. Deeper ones come from a damaged message and would exhaust the stack.
const DEEPEST: u32 = 200;

pub(super) struct Reader<'de> {
    rest: &'de [u8],
    names: Vec<&'de str>,
    depth: u32,
}

impl<'de> Reader<'de> {
    pub(super) fn new(code: &'de [u8]) -> Self {
        Self { rest: code, names: Vec::new(), depth: 0 }
    }

    pub(super) fn left(&self) -> usize {
        self.rest.len()
    }

    fn take(&mut self, length: usize) -> Result<&'de [u8], Failure> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or_else(cut_off)?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Failure> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or_else(cut_off)?;
        self.rest = rest;
        Ok(*taken)
    }

    fn byte(&mut self) -> Result<u8, Failure> {
        Ok(self.array::<1>()?[0])
    }

    fn peek(&self) -> Result<u8, Failure> {
        self.rest.first().copied().ok_or_else(cut_off)
    }

    /// Goes over a tag, if it is the next one.
    fn skip(&mut self, tag: u8) -> Result<bool, Failure> {
        let is_it = self.peek()? == tag;
        if is_it {
            self.rest = &self.rest[1..];
        }
        Ok(is_it)
    }

    fn length(&mut self) -> Result<usize, Failure> {
        let length = match self.byte()? {
            number @ tag::SMALL.. => Some(usize::from(number & 127)),
            tag::U8 => Some(usize::from(self.byte()?)),
            tag::U16 => Some(usize::from(u16::from_le_bytes(self.array()?))),
            tag::U32 => usize::try_from(u32::from_le_bytes(self.array()?)).ok(),
            tag::U64 => usize::try_from(u64::from_le_bytes(self.array()?)).ok(),
            _ => None,
        };
        length.ok_or_else(damaged)
    }

    fn bytes(&mut self) -> Result<&'de [u8], Failure> {
        let length = self.length()?;
        self.take(length)
    }

    fn text(&mut self) -> Result<&'de str, Failure> {
        std::str::from_utf8(self.bytes()?).map_err(|_| damaged())
    }

    fn name(&mut self) -> Result<&'de str, Failure> {
        let number = match self.byte()? {
            number @ tag::SMALL.. => usize::from(number & 127),
            tag::NUMBER => usize::from(u16::from_le_bytes(self.array()?)),
            tag::NAME => {
                let name = self.text()?;
                if self.names.len() <= usize::from(u16::MAX) {
                    self.names.push(name);
                }
                return Ok(name);
            }
            _ => return Err(damaged()),
        };
        self.names.get(number).copied().ok_or_else(damaged)
    }

    /// Reads what is inside of a value.
    fn inside<R>(&mut self, read: impl FnOnce(&mut Self) -> Result<R, Failure>) -> Result<R, Failure> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Failure(format!("values are deeper in each other than {DEEPEST}")));
        }
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn list<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Failure> {
        self.inside(|reader| {
            let value = visitor.visit_seq(Inside { reader, has_names: false })?;
            if reader.skip(tag::END)? {
                Ok(value)
            } else {
                Err(Failure("a list has too many values".to_owned()))
            }
        })
    }

    fn map<V: Visitor<'de>>(&mut self, visitor: V, has_names: bool) -> Result<V::Value, Failure> {
        self.inside(|reader| {
            let value = visitor.visit_map(Inside { reader, has_names })?;
            if reader.skip(tag::END)? {
                Ok(value)
            } else {
                Err(Failure("a map has too many entries".to_owned()))
            }
        })
    }
}

fn cut_off() -> Failure {
    Failure("the value is cut off".to_owned())
}

fn damaged() -> Failure {
    Failure("the value is damaged, or was not written by this crate".to_owned())
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = Failure;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        match self.byte()? {
            tag::NONE => visitor.visit_none(),
            tag::SOME => self.inside(|reader| visitor.visit_some(reader)),
            tag::UNIT => visitor.visit_unit(),
            tag::FALSE => visitor.visit_bool(false),
            tag::TRUE => visitor.visit_bool(true),
            number @ tag::SMALL.. => visitor.visit_u64(u64::from(number & 127)),
            tag::U8 => visitor.visit_u64(u64::from(self.byte()?)),
            tag::U16 => visitor.visit_u64(u64::from(u16::from_le_bytes(self.array()?))),
            tag::U32 => visitor.visit_u64(u64::from(u32::from_le_bytes(self.array()?))),
            tag::U64 => visitor.visit_u64(u64::from_le_bytes(self.array()?)),
            tag::U128 => visitor.visit_u128(u128::from_le_bytes(self.array()?)),
            tag::I8 => visitor.visit_i64(i64::from(i8::from_le_bytes(self.array()?))),
            tag::I16 => visitor.visit_i64(i64::from(i16::from_le_bytes(self.array()?))),
            tag::I32 => visitor.visit_i64(i64::from(i32::from_le_bytes(self.array()?))),
            tag::I64 => visitor.visit_i64(i64::from_le_bytes(self.array()?)),
            tag::I128 => visitor.visit_i128(i128::from_le_bytes(self.array()?)),
            tag::F32 => visitor.visit_f32(f32::from_le_bytes(self.array()?)),
            tag::F64 => visitor.visit_f64(f64::from_le_bytes(self.array()?)),
            tag::CHAR => {
                let letter = char::from_u32(u32::from_le_bytes(self.array()?));
                visitor.visit_char(letter.ok_or_else(damaged)?)
            }
            tag::TEXT => visitor.visit_borrowed_str(self.text()?),
            tag::BYTES => visitor.visit_borrowed_bytes(self.bytes()?),
            tag::LIST => self.list(visitor),
            tag::MAP => self.map(visitor, false),
            tag::FIELDS => self.map(visitor, true),
            // `serde` keeps enums like this until it knows their types.
            tag::UNIT_VARIANT => visitor.visit_borrowed_str(self.name()?),
            tag::VARIANT => {
                let name = self.name()?;
                self.inside(|reader| visitor.visit_map(One { name: Some(name), reader }))
            }
            _ => Err(damaged()),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        match self.peek()? {
            tag::NONE | tag::SOME => self.deserialize_any(visitor),
            // Some types write a value without saying that it is optional.
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Failure> {
        self.inside(|reader| visitor.visit_newtype_struct(reader))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        match self.byte()? {
            tag::UNIT_VARIANT => {
                let name: BorrowedStrDeserializer<'de, Failure> = BorrowedStrDeserializer::new(self.name()?);
                visitor.visit_enum(name)
            }
            tag::VARIANT => {
                let name = self.name()?;
                self.inside(|reader| visitor.visit_enum(One { name: Some(name), reader }))
            }
            // Some types write the name of a variant as a text, or its number.
            tag::TEXT => visitor.visit_enum(self.text()?.into_deserializer()),
            number @ tag::SMALL.. => visitor.visit_enum(u32::from(number & 127).into_deserializer()),
            _ => Err(de::Error::invalid_type(Unexpected::Other("a value"), &"an enum")),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.deserialize_any(de::IgnoredAny)?;
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier
    }
}

/// The values of a list, or the entries of a map or of fields.
struct Inside<'a, 'de> {
    reader: &'a mut Reader<'de>,
    has_names: bool,
}

impl<'de> de::SeqAccess<'de> for Inside<'_, 'de> {
    type Error = Failure;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Failure> {
        match self.reader.peek()? {
            tag::END => Ok(None),
            _ => seed.deserialize(&mut *self.reader).map(Some),
        }
    }
}

impl<'de> de::MapAccess<'de> for Inside<'_, 'de> {
    type Error = Failure;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Failure> {
        match self.reader.peek()? {
            tag::END => Ok(None),
            _ if self.has_names => {
                seed.deserialize(BorrowedStrDeserializer::new(self.reader.name()?)).map(Some)
            }
            _ => seed.deserialize(&mut *self.reader).map(Some),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Failure> {
        seed.deserialize(&mut *self.reader)
    }
}

/// A variant with a value, or the same as a map with one entry.
struct One<'a, 'de> {
    name: Option<&'de str>,
    reader: &'a mut Reader<'de>,
}

impl<'de> de::MapAccess<'de> for One<'_, 'de> {
    type Error = Failure;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Failure> {
        self.name.take().map(|name| seed.deserialize(BorrowedStrDeserializer::new(name))).transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Failure> {
        seed.deserialize(&mut *self.reader)
    }
}

impl<'de> de::EnumAccess<'de> for One<'_, 'de> {
    type Error = Failure;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(mut self, seed: V) -> Result<(V::Value, Self), Failure> {
        let name = self.name.take().unwrap_or_default();
        Ok((seed.deserialize(BorrowedStrDeserializer::<Failure>::new(name))?, self))
    }
}

impl<'de> de::VariantAccess<'de> for One<'_, 'de> {
    type Error = Failure;

    fn unit_variant(self) -> Result<(), Failure> {
        serde::Deserialize::deserialize(self.reader)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Failure> {
        seed.deserialize(self.reader)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Failure> {
        self.reader.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        self.reader.deserialize_any(visitor)
    }
}
