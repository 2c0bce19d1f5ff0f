//! The code of items, results and errors: values that say what they are, with the names of their fields and variants.
//!
//! So a field that is left out is not taken for the next one, and an enum without a tag, or a structure in another one, is read as it
//! was written. It also tells apart what JSON, CBOR and MessagePack do not: `None`, `Some(None)` and `Some(())`.
//!
//! A value is a tag and what the tag says. Numbers are little-endian. The name of a field or a variant is written once, and later ones
//! are its number. `is_human_readable` is true, because `serde` reads fields of flattened structures and of enums without tags as if it
//! were, whatever the format says.

mod read;
mod same;
mod write;

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub(crate) use same::check;

/// The tags. From [`SMALL`](tag::SMALL) on, a tag is a number itself.
mod tag {
    pub(super) const NONE: u8 = 0;
    pub(super) const SOME: u8 = 1;
    pub(super) const UNIT: u8 = 2;
    pub(super) const FALSE: u8 = 3;
    pub(super) const TRUE: u8 = 4;
    pub(super) const U8: u8 = 5;
    pub(super) const U16: u8 = 6;
    pub(super) const U32: u8 = 7;
    pub(super) const U64: u8 = 8;
    pub(super) const U128: u8 = 9;
    pub(super) const I8: u8 = 10;
    pub(super) const I16: u8 = 11;
    pub(super) const I32: u8 = 12;
    pub(super) const I64: u8 = 13;
    pub(super) const I128: u8 = 14;
    pub(super) const F32: u8 = 15;
    pub(super) const F64: u8 = 16;
    pub(super) const CHAR: u8 = 17;
    pub(super) const TEXT: u8 = 18;
    pub(super) const BYTES: u8 = 19;
    /// Values until [`END`].
    pub(super) const LIST: u8 = 20;
    /// Keys and values until [`END`].
    pub(super) const MAP: u8 = 21;
    /// Names and values until [`END`].
    pub(super) const FIELDS: u8 = 22;
    pub(super) const UNIT_VARIANT: u8 = 23;
    /// A name and one value, which is a list or fields for variants that have several.
    pub(super) const VARIANT: u8 = 24;
    pub(super) const END: u8 = 25;
    /// A name that follows, and gets the next number.
    pub(super) const NAME: u8 = 26;
    /// The number of a name, in 2 bytes.
    pub(super) const NUMBER: u8 = 27;
    /// The numbers from 0 to 127, and those of the first 128 names.
    pub(super) const SMALL: u8 = 128;
}

/// The reason why a value cannot be written or read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure(String);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failure {}

impl serde::ser::Error for Failure {
    fn custom<T: fmt::Display>(text: T) -> Self {
        Self(with_cure(text.to_string()))
    }
}

impl serde::de::Error for Failure {
    fn custom<T: fmt::Display>(text: T) -> Self {
        Self(with_cure(text.to_string()))
    }
}

const WIDE: &str = "a number of 128 bits cannot be in a flattened structure, or in an enum with `tag` or `untagged`: give the enum the \
                    usual form, or write the number as a text";
const UNTAGGED: &str =
    "`serde` does not say why: give the enum the usual form to see it; a number of 128 bits cannot be in it";

/// Says what to do, where `serde` does not.
fn with_cure(text: String) -> String {
    let cures = [
        ("missing field", "`skip_serializing_if` needs `default`, too"),
        ("128 is not supported", WIDE),
        ("did not match any variant of untagged enum", UNTAGGED),
        ("can only flatten", "only structures and maps are flattened"),
        ("cannot serialize tagged newtype variant", "give the enum `content`, too, or the usual form"),
    ];
    if text.ends_with("as u128, expected any value") || text.ends_with("as i128, expected any value") {
        return format!("{text} ({WIDE})");
    }
    match cures.iter().find(|(words, _)| text.contains(words)) {
        Some((_, cure)) if !text.contains(cure) => format!("{text} ({cure})"),
        _ => text,
    }
}

/// Writes a value.
pub(crate) fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, Failure> {
    let mut writer = write::Writer::new(Vec::new());
    value.serialize(&mut writer)?;
    let mut code = writer.finish();
    if code.capacity() - code.len() > code.len() / 4 + write::ROOM {
        code.shrink_to_fit();
    }
    Ok(code)
}

/// Reads a value that has all the bytes.
pub(crate) fn decode<T: DeserializeOwned>(code: &[u8]) -> Result<T, Failure> {
    let mut reader = read::Reader::new(code);
    let value = T::deserialize(&mut reader)?;
    match reader.left() {
        0 => Ok(value),
        left => Err(Failure(format!("{left} bytes are left of {}", code.len()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    enum Any {
        Unit,
        New(Option<Vec<u64>>),
        Tuple(String, char),
        Fields { map: BTreeMap<i16, Any>, float: f64 },
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(untagged)]
    enum Whatever {
        Flat {
            #[serde(flatten)]
            rest: BTreeMap<String, Any>,
        },
        List(Vec<Whatever>),
        Number(i64),
    }

    fn any() -> Any {
        let map = [(-3, Any::Unit), (300, Any::New(Some(vec![1, 200, 70_000, u64::MAX])))];
        Any::Fields {
            map: map.into_iter().chain([(9, Any::Tuple("text".to_owned(), 'x'))]).collect(),
            float: 0.5,
        }
    }

    #[test]
    fn a_code_with_a_rest_is_not_decoded() {
        let code = encode(&(7u8, "seven")).unwrap();
        assert_eq!(decode::<(u8, String)>(&code).unwrap(), (7, "seven".to_owned()));
        let twice = [&code[..], &code[..]].concat();
        assert!(decode::<(u8, String)>(&twice).unwrap_err().to_string().contains("bytes are left of"));
    }

    #[test]
    fn a_name_is_written_once() {
        let one = encode(&vec![any()]).unwrap().len();
        let two = encode(&vec![any(), any()]).unwrap().len();
        assert!(two < 2 * one - 30, "{one} and {two} bytes");
    }

    /// No damaged code panics, and none takes more memory than it has bytes for.
    #[test]
    fn damaged_codes_are_errors() {
        let whole = [
            encode(&any()).unwrap(),
            encode(&Whatever::List(vec![
                Whatever::Number(-5),
                Whatever::Flat { rest: [("one".to_owned(), any())].into() },
            ]))
            .unwrap(),
        ];
        let mut state = 1_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for round in 0..40_000 {
            let mut code = whole[round % 2].clone();
            for _ in 0..=random(3) {
                let at = random(code.len());
                match random(4) {
                    0 => code.truncate(at.max(1)),
                    1 => code.insert(at, random(256) as u8),
                    2 => code.extend_from_within(at..),
                    _ => code[at] = random(256) as u8,
                }
            }
            let _ = (decode::<Any>(&code), decode::<Whatever>(&code), check::<Whatever>(&code));
        }
        let deep = vec![tag::SOME; 1 << 20];
        assert!(decode::<serde::de::IgnoredAny>(&deep).unwrap_err().to_string().contains("deeper"));
    }
}
