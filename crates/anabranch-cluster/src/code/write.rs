//! Writes values.

use serde::ser::{self, Serialize};

use super::{Failure, tag};

/// Some bytes more than a long text needs, so that the fields after it do not double the buffer.
pub(super) const ROOM: usize = 256;

/// A taker of the bytes of a code.
pub(super) trait Output {
    fn push(&mut self, byte: u8);
    fn extend(&mut self, bytes: &[u8]);
    /// A long text of so many bytes follows.
    fn reserve(&mut self, length: usize);
}

impl Output for Vec<u8> {
    fn push(&mut self, byte: u8) {
        self.push(byte);
    }

    fn extend(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }

    fn reserve(&mut self, length: usize) {
        self.reserve(length + ROOM.min(length));
    }
}

/// Compares a code with another one, and keeps none. `None` if they differ, or else the rest of the other one.
pub(super) struct Compared<'a>(pub(super) Option<&'a [u8]>);

impl Output for Compared<'_> {
    fn push(&mut self, byte: u8) {
        self.extend(&[byte]);
    }

    fn extend(&mut self, bytes: &[u8]) {
        self.0 = self.0.and_then(|rest| rest.strip_prefix(bytes));
    }

    fn reserve(&mut self, _: usize) {}
}

pub(super) struct Writer<O> {
    out: O,
    /// The names that were written. Each is one of the program's, so its place says which.
    names: Vec<&'static str>,
    /// The name that may follow, since structures of one type follow each other.
    next: usize,
}

impl<O: Output> Writer<O> {
    pub(super) fn new(out: O) -> Self {
        Self { out, names: Vec::new(), next: 0 }
    }

    pub(super) fn finish(self) -> O {
        self.out
    }

    fn put<const N: usize>(&mut self, tag: u8, bytes: [u8; N]) {
        self.out.push(tag);
        self.out.extend(&bytes);
    }

    fn unsigned(&mut self, number: u64) {
        if number < 128 {
            self.out.push(tag::SMALL | number as u8);
        } else if let Ok(number) = u8::try_from(number) {
            self.put(tag::U8, [number]);
        } else if let Ok(number) = u16::try_from(number) {
            self.put(tag::U16, number.to_le_bytes());
        } else if let Ok(number) = u32::try_from(number) {
            self.put(tag::U32, number.to_le_bytes());
        } else {
            self.put(tag::U64, number.to_le_bytes());
        }
    }

    fn signed(&mut self, number: i64) {
        if let Ok(number) = u64::try_from(number) {
            self.unsigned(number);
        } else if let Ok(number) = i8::try_from(number) {
            self.put(tag::I8, number.to_le_bytes());
        } else if let Ok(number) = i16::try_from(number) {
            self.put(tag::I16, number.to_le_bytes());
        } else if let Ok(number) = i32::try_from(number) {
            self.put(tag::I32, number.to_le_bytes());
        } else {
            self.put(tag::I64, number.to_le_bytes());
        }
    }

    fn single(&mut self, number: f32) {
        self.put(tag::F32, number.to_le_bytes());
    }

    fn double(&mut self, number: f64) {
        self.put(tag::F64, number.to_le_bytes());
    }

    fn long(&mut self, tag: u8, bytes: &[u8]) {
        self.out.reserve(bytes.len());
        self.out.push(tag);
        self.unsigned(bytes.len() as u64);
        self.out.extend(bytes);
    }

    /// The name of a field or a variant.
    fn name(&mut self, name: &'static str) {
        let is_it = |other: &&'static str| std::ptr::eq(*other, name);
        let known = match self.names.get(self.next).is_some_and(is_it) {
            true => Some(self.next),
            false => self.names.iter().position(is_it),
        };
        match known {
            Some(number) => {
                self.next = number + 1;
                if number < 128 {
                    self.out.push(tag::SMALL | number as u8);
                } else {
                    self.put(tag::NUMBER, (number as u16).to_le_bytes());
                }
            }
            None => {
                self.long(tag::NAME, name.as_bytes());
                // No more names are kept than have a number.
                if self.names.len() <= usize::from(u16::MAX) {
                    self.names.push(name);
                }
                self.next = self.names.len();
            }
        }
    }

    fn open(&mut self, tag: u8) -> Result<Open<'_, O>, Failure> {
        self.out.push(tag);
        Ok(Open(self))
    }

    fn variant(&mut self, variant: &'static str) {
        self.out.push(tag::VARIANT);
        self.name(variant);
    }
}

/// A list, a map or fields, until its end.
pub(super) struct Open<'a, O>(&'a mut Writer<O>);

impl<O: Output> Open<'_, O> {
    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failure> {
        value.serialize(&mut *self.0)
    }

    fn field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Failure> {
        self.0.name(name);
        self.value(value)
    }

    fn close(self) {
        self.0.out.push(tag::END);
    }
}

/// Implements methods that write numbers, by the method of the writer for all numbers of a kind.
macro_rules! numbers {
    ($($method:ident $number:ident $kind:ident,)*) => {$(
        fn $method(self, number: $number) -> Result<(), Failure> {
            self.$kind(number.into());
            Ok(())
        }
    )*};
}

impl<'a, O: Output> ser::Serializer for &'a mut Writer<O> {
    type Ok = ();
    type Error = Failure;
    type SerializeSeq = Open<'a, O>;
    type SerializeTuple = Open<'a, O>;
    type SerializeTupleStruct = Open<'a, O>;
    type SerializeTupleVariant = Open<'a, O>;
    type SerializeMap = Open<'a, O>;
    type SerializeStruct = Open<'a, O>;
    type SerializeStructVariant = Open<'a, O>;

    fn serialize_bool(self, value: bool) -> Result<(), Failure> {
        self.out.push(if value { tag::TRUE } else { tag::FALSE });
        Ok(())
    }

    numbers! {
        serialize_i8 i8 signed, serialize_i16 i16 signed, serialize_i32 i32 signed, serialize_i64 i64 signed,
        serialize_u8 u8 unsigned, serialize_u16 u16 unsigned, serialize_u32 u32 unsigned, serialize_u64 u64 unsigned,
        serialize_f32 f32 single, serialize_f64 f64 double,
    }

    fn serialize_i128(self, number: i128) -> Result<(), Failure> {
        match i64::try_from(number) {
            Ok(number) => self.signed(number),
            Err(_) if number >= 0 => return self.serialize_u128(number.unsigned_abs()),
            Err(_) => self.put(tag::I128, number.to_le_bytes()),
        }
        Ok(())
    }

    fn serialize_u128(self, number: u128) -> Result<(), Failure> {
        match u64::try_from(number) {
            Ok(number) => self.unsigned(number),
            Err(_) => self.put(tag::U128, number.to_le_bytes()),
        }
        Ok(())
    }

    fn serialize_char(self, letter: char) -> Result<(), Failure> {
        self.put(tag::CHAR, u32::from(letter).to_le_bytes());
        Ok(())
    }

    fn serialize_str(self, text: &str) -> Result<(), Failure> {
        self.long(tag::TEXT, text.as_bytes());
        Ok(())
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<(), Failure> {
        self.long(tag::BYTES, bytes);
        Ok(())
    }

    fn serialize_none(self) -> Result<(), Failure> {
        self.out.push(tag::NONE);
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Failure> {
        self.out.push(tag::SOME);
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Failure> {
        self.out.push(tag::UNIT);
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Failure> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Failure> {
        self.out.push(tag::UNIT_VARIANT);
        self.name(variant);
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Failure> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Failure> {
        self.variant(variant);
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Open<'a, O>, Failure> {
        self.open(tag::LIST)
    }

    fn serialize_tuple(self, _: usize) -> Result<Open<'a, O>, Failure> {
        self.open(tag::LIST)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Open<'a, O>, Failure> {
        self.open(tag::LIST)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Open<'a, O>, Failure> {
        self.variant(variant);
        self.open(tag::LIST)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Open<'a, O>, Failure> {
        self.open(tag::MAP)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Open<'a, O>, Failure> {
        self.open(tag::FIELDS)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Open<'a, O>, Failure> {
        self.variant(variant);
        self.open(tag::FIELDS)
    }
}

/// Implements a kind of lists.
macro_rules! list {
    ($($kind:ident $method:ident,)*) => {$(
        impl<O: Output> ser::$kind for Open<'_, O> {
            type Ok = ();
            type Error = Failure;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failure> {
                self.value(value)
            }

            fn end(self) -> Result<(), Failure> {
                self.close();
                Ok(())
            }
        }
    )*};
}

list! {
    SerializeSeq serialize_element,
    SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field,
}

/// Implements a kind of fields.
macro_rules! fields {
    ($($kind:ident,)*) => {$(
        impl<O: Output> ser::$kind for Open<'_, O> {
            type Ok = ();
            type Error = Failure;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), Failure> {
                self.field(name, value)
            }

            fn end(self) -> Result<(), Failure> {
                self.close();
                Ok(())
            }
        }
    )*};
}

fields! { SerializeStruct, SerializeStructVariant, }

impl<O: Output> ser::SerializeMap for Open<'_, O> {
    type Ok = ();
    type Error = Failure;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Failure> {
        self.value(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failure> {
        self.value(value)
    }

    fn end(self) -> Result<(), Failure> {
        self.close();
        Ok(())
    }
}
