//! Functions that may run on a worker, and what both sides say of them.

use std::any::{Any, type_name};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// The functions that a program may call on a cluster. The workers and the program are built with the same ones.
///
/// Both sides compare the name, the version and the signatures of all functions before any item travels. So change the version
/// when a function or one of its types changes. `env!("CARGO_PKG_VERSION")` is a good one.
///
/// ```
/// use anabranch_cluster::Functions;
///
/// pub fn functions() -> Functions {
///     Functions::new("arithmetic", env!("CARGO_PKG_VERSION"))
///         .function("half", |n: u32| if n % 2 == 0 { Ok(n / 2) } else { Err(format!("{n} is odd")) })
///         .function("square", |n: u32| n.checked_mul(n).ok_or(()))
/// }
/// ```
#[derive(Clone)]
pub struct Functions {
    name: String,
    version: String,
    list: Vec<Entry>,
}

#[derive(Clone)]
struct Entry {
    name: String,
    signature: String,
    /// A [`Typed`], for those who know the types.
    typed: Arc<dyn Any + Send + Sync>,
    coded: Coded,
}

/// A function with its types.
pub(crate) type Typed<T, U, E> = Arc<dyn Fn(T) -> Result<U, E> + Send + Sync>;

/// A function from the code of an item to the code of its result.
pub(crate) type Coded = Arc<dyn Fn(&[u8]) -> Outcome + Send + Sync>;

/// The end of a call on a worker.
#[derive(Debug)]
pub(crate) enum Outcome {
    Value(Vec<u8>),
    Error(Vec<u8>),
    Panic(String),
    /// The item cannot be decoded, or the result cannot be encoded.
    Undecodable(String),
}

/// The name, the version and the functions of a side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    pub(crate) name: String,
    pub(crate) version: String,
    /// The signature of each function, in the order of their names.
    pub(crate) functions: Vec<String>,
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, version, functions } = self;
        write!(f, "{name} {version} with {}", functions.join(", "))
    }
}

impl Functions {
    /// Creates a set without functions. Programs find the workers that have a set of the same `name`.
    ///
    /// # Panics
    /// If the name is empty, or has another character than `a` to `z`, `A` to `Z`, `0` to `9`, `-` and `_`.
    #[track_caller]
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        let (name, version) = (name.into(), version.into());
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        assert!(
            !name.is_empty() && name.chars().all(is_plain),
            "the name of a set of functions is made of letters, digits, `-` and `_`: {name:?} is not"
        );
        Self { name, version, list: Vec::new() }
    }

    /// Adds a function. Its items, results and errors travel as `serde` writes them.
    ///
    /// A type that has many bytes should say so to `serde`, or each byte is written for itself: use the type `Bytes` of the crate
    /// `bytes`, or the crate `serde_bytes`.
    ///
    /// # Panics
    /// If the set has a function of that name.
    #[track_caller]
    pub fn function<T, U, E, F>(mut self, name: impl Into<String>, f: F) -> Self
    where
        T: Serialize + DeserializeOwned + 'static,
        U: Serialize + DeserializeOwned + 'static,
        E: Serialize + DeserializeOwned + 'static,
        F: Fn(T) -> Result<U, E> + Send + Sync + 'static,
    {
        let name = name.into();
        assert!(self.entry(&name).is_none(), "{} has a function {name:?} already", self.name);
        let signature = format!("{name}{}", signature::<T, U, E>());
        let typed: Typed<T, U, E> = Arc::new(f);
        let same = Arc::clone(&typed);
        let says = signature.clone();
        let coded = move |code: &[u8]| {
            let item = match decode::<T>(code) {
                Ok(item) => item,
                Err(error) => {
                    return Outcome::Undecodable(format!("an item of {says} cannot be decoded: {error}"));
                }
            };
            let encoded = match catch(|| same(item)) {
                Ok(Ok(value)) => encode(&value).map(Outcome::Value),
                Ok(Err(error)) => encode(&error).map(Outcome::Error),
                Err(message) => return Outcome::Panic(message),
            };
            encoded.unwrap_or_else(|error| {
                Outcome::Undecodable(format!("a result of {says} cannot be encoded: {error}"))
            })
        };
        self.list.push(Entry { name, signature, typed: Arc::new(typed), coded: Arc::new(coded) });
        self
    }

    /// The name of the set.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        self.list.iter().find(|entry| entry.name == name)
    }

    pub(crate) fn coded(&self, name: &str) -> Option<Coded> {
        self.entry(name).map(|entry| Arc::clone(&entry.coded))
    }

    pub(crate) fn typed<T: 'static, U: 'static, E: 'static>(
        &self,
        name: &str,
    ) -> Result<Typed<T, U, E>, Error> {
        let Some(entry) = self.entry(name) else {
            return Err(Error::NoFunction { function: name.to_owned(), has: self.identity().to_string() });
        };
        entry.typed.downcast_ref().map(Arc::clone).ok_or_else(|| {
            let asked = format!("{name}{}", signature::<T, U, E>());
            Error::OtherTypes { has: entry.signature.clone(), asked }
        })
    }

    pub(crate) fn identity(&self) -> Identity {
        let mut functions: Vec<String> = self.list.iter().map(|entry| entry.signature.clone()).collect();
        functions.sort();
        Identity { name: self.name.clone(), version: self.version.clone(), functions }
    }
}

impl fmt::Debug for Functions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Identity { name, version, functions } = self.identity();
        f.debug_struct("Functions")
            .field("name", &name)
            .field("version", &version)
            .field("functions", &functions)
            .finish()
    }
}

/// The types of a function without the modules in which they are: these differ between programs that include the same file.
fn signature<T, U, E>() -> String {
    let error = short_name(type_name::<E>());
    format!("({}) -> Result<{}, {error}>", short_name(type_name::<T>()), short_name(type_name::<U>()))
}

fn short_name(path: &str) -> String {
    let mut short = String::new();
    let mut word = String::new();
    let mut letters = path.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == ':' && letters.peek() == Some(&':') {
            letters.next();
            word.clear();
        } else if letter.is_alphanumeric() || letter == '_' {
            word.push(letter);
        } else {
            short.push_str(&std::mem::take(&mut word));
            short.push(letter);
        }
    }
    short + &word
}

/// Calls `f`. Its panic is an error with the panic's message.
pub(crate) fn catch<R>(f: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|payload| {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        text.or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "a panic without a message".to_owned())
    })
}

pub(crate) fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>, String> {
    let mut code = postcard::to_stdvec(value).map_err(|error| error.to_string())?;
    // Fields behind a long one have doubled its capacity.
    code.shrink_to_fit();
    Ok(code)
}

/// The code of a message of this crate, which is always encoded.
pub(crate) fn message<T: Serialize>(value: &T) -> Bytes {
    encode(value).expect("numbers, bytes and texts can be encoded").into()
}

pub(crate) fn decode<T: DeserializeOwned>(code: &[u8]) -> Result<T, String> {
    match postcard::take_from_bytes(code) {
        Ok((value, [])) => Ok(value),
        Ok((_, rest)) => Err(format!("{} bytes are left of {}", rest.len(), code.len())),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_has_the_names_of_types_and_not_their_modules() {
        assert_eq!(
            signature::<Vec<std::num::ParseIntError>, (u8, [std::string::String; 2]), ()>(),
            "(Vec<ParseIntError>) -> Result<(u8, [String; 2]), ()>"
        );
    }

    #[test]
    fn a_code_with_a_rest_is_not_decoded() {
        let code = encode(&(7u8, "seven")).unwrap();
        assert_eq!(decode::<(u8, String)>(&code).unwrap(), (7, "seven".to_owned()));
        assert!(decode::<u8>(&code).unwrap_err().contains("6 bytes are left of 7"));
    }
}
