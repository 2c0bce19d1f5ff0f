//! Whether a value is the same after it has travelled.

use serde::Serialize;
use serde::de::{DeserializeOwned, Deserializer, MapAccess, SeqAccess, Visitor};

use super::read::Reader;
use super::write::{Compared, Writer};
use super::{Failure, decode, encode};

/// Decodes a code and encodes the value again. Returns the value, if that gives the same code.
///
/// Hash maps and sets may have another order each time they are made, so the order of lists and maps is not looked at.
pub(crate) fn check<T: Serialize + DeserializeOwned>(code: &[u8]) -> Result<T, Failure> {
    let value: T = decode(code)?;
    let mut writer = Writer::new(Compared(Some(code)));
    value.serialize(&mut writer)?;
    if writer.finish().0 == Some(&[]) || sorted(&encode(&value)?)? == sorted(code)? {
        return Ok(value);
    }
    Err(Failure(
        "its code is another one after it was decoded and encoded again, so the other side would see another value: what `Serialize` \
         writes, `Deserialize` must read (look at `skip_serializing_if`, `serialize_with` and `rename`)"
            .to_owned(),
    ))
}

fn sorted(code: &[u8]) -> Result<Tree, Failure> {
    Reader::new(code).deserialize_any(Whole)
}

/// A value whose lists and maps are sorted.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Tree {
    None,
    Some(Box<Self>),
    Unit,
    Bool(bool),
    Unsigned(u128),
    Signed(i128),
    /// The bits of the number.
    Float(u64),
    Char(char),
    Text(String),
    Bytes(Vec<u8>),
    List(Vec<Self>),
    Map(Vec<(Self, Self)>),
}

struct Whole;

impl<'de> serde::de::DeserializeSeed<'de> for Whole {
    type Value = Tree;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Tree, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Whole {
    type Value = Tree;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a value")
    }

    fn visit_none<E>(self) -> Result<Tree, E> {
        Ok(Tree::None)
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<Tree, D::Error> {
        Ok(Tree::Some(Box::new(inner.deserialize_any(self)?)))
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Unit)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Bool(value))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Tree, E> {
        Ok(Tree::Unsigned(number.into()))
    }

    fn visit_u128<E>(self, number: u128) -> Result<Tree, E> {
        Ok(Tree::Unsigned(number))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Tree, E> {
        Ok(Tree::Signed(number.into()))
    }

    fn visit_i128<E>(self, number: i128) -> Result<Tree, E> {
        Ok(Tree::Signed(number))
    }

    fn visit_f32<E>(self, number: f32) -> Result<Tree, E> {
        Ok(Tree::Float(number.to_bits().into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Tree, E> {
        Ok(Tree::Float(number.to_bits()))
    }

    fn visit_char<E>(self, letter: char) -> Result<Tree, E> {
        Ok(Tree::Char(letter))
    }

    fn visit_str<E>(self, text: &str) -> Result<Tree, E> {
        Ok(Tree::Text(text.to_owned()))
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Tree, E> {
        Ok(Tree::Bytes(bytes.to_vec()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Tree, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element_seed(Self)? {
            values.push(value);
        }
        values.sort();
        Ok(Tree::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry_seed(Self, Self)? {
            entries.push(entry);
        }
        entries.sort();
        Ok(Tree::Map(entries))
    }
}
