//! Functions that may run on a worker, and what both sides say of them.

use std::any::{Any, type_name};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::code;
use crate::error::Error;
use crate::identity::Identity;

/// The name of a function and its types: those of its items, its results and its errors. The set of functions and its callers use the
/// same one, so the compiler compares the types.
///
/// ```
/// use anabranch_cluster::{Cluster, Functions, Named};
///
/// pub const HALF: Named<u32, u32, String> = Named::new("half");
///
/// pub fn functions() -> Functions {
///     Functions::new("arithmetic", "1.0").function(HALF, |n| if n % 2 == 0 { Ok(n / 2) } else { Err(format!("{n} is odd")) })
/// }
///
/// let half = Cluster::local().function(&functions(), HALF)?;
/// # let _ = half;
/// # Ok::<(), anabranch_cluster::Error>(())
/// ```
///
/// A text is the name of a function whose types are those that are asked for. They are compared when the program runs.
pub struct Named<T, U, E> {
    name: Cow<'static, str>,
    types: PhantomData<fn(T) -> Result<U, E>>,
}

impl<T, U, E> Named<T, U, E> {
    /// The function with this name.
    pub const fn new(name: &'static str) -> Self {
        Self { name: Cow::Borrowed(name), types: PhantomData }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl<T, U, E> From<&str> for Named<T, U, E> {
    fn from(name: &str) -> Self {
        name.to_owned().into()
    }
}

impl<T, U, E> From<String> for Named<T, U, E> {
    fn from(name: String) -> Self {
        Self { name: name.into(), types: PhantomData }
    }
}

impl<T, U, E> Clone for Named<T, U, E> {
    fn clone(&self) -> Self {
        Self { name: self.name.clone(), types: PhantomData }
    }
}

impl<T, U, E> fmt::Debug for Named<T, U, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Named({}{})", self.name, signature::<T, U, E>())
    }
}

/// The functions that a program may call on a cluster. The workers and the program are built with the same ones.
///
/// Both sides compare the name, the version and the signatures of all functions before any item travels. So change the version
/// when a function or one of its types changes. `env!("CARGO_PKG_VERSION")` is a good one.
///
/// ```
/// use anabranch_cluster::{Functions, Named};
///
/// pub const HALF: Named<u32, u32, String> = Named::new("half");
/// pub const SQUARE: Named<u32, u32, ()> = Named::new("square");
///
/// pub fn functions() -> Functions {
///     Functions::new("arithmetic", env!("CARGO_PKG_VERSION"))
///         .function(HALF, |n| if n % 2 == 0 { Ok(n / 2) } else { Err(format!("{n} is odd")) })
///         .function(SQUARE, |n| n.checked_mul(n).ok_or(()))
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

    /// Adds a function. Its items, results and errors travel as `serde` writes them, with the names of their fields and variants.
    ///
    /// A type that has many bytes should say so to `serde`, or each byte is written for itself: use the type `Bytes` of the crate
    /// `bytes`, or the crate `serde_bytes`.
    ///
    /// # Types
    /// These are carried, in any combination:
    /// - numbers, texts, characters, bytes, `()`, options of options, and `Option<()>`
    /// - lists, sets, and maps with keys of any type
    /// - structures, with `flatten`, `rename`, `default`, and with `skip_serializing_if` if the field has `default`, too
    /// - enums of each form: the usual one, `tag`, `tag` with `content`, and `untagged`
    ///
    /// A field with `skip` arrives with its default. These are not carried:
    /// - numbers of 128 bits inside of a flattened structure, or of an enum with `tag` or `untagged`: `serde` does not keep them there
    /// - what `serde` does not write or does not read again, such as a list in an enum with `tag` alone
    /// - values that are more than 200 levels deep in each other
    ///
    /// Then the item fails with [`RemoteError::Undecodable`](crate::RemoteError::Undecodable), which names the function and says what to
    /// do. A debug build decodes each value that it has encoded and encodes it again, also in [`Cluster::local`](crate::Cluster::local),
    /// where the function gets the decoded item: a test at home finds what does not travel. A release build looks at the first items in
    /// this way if the function runs here.
    ///
    /// # Panics
    /// If the set has a function of that name.
    #[track_caller]
    pub fn function<T, U, E, F>(mut self, name: impl Into<Named<T, U, E>>, f: F) -> Self
    where
        T: Serialize + DeserializeOwned + 'static,
        U: Serialize + DeserializeOwned + 'static,
        E: Serialize + DeserializeOwned + 'static,
        F: Fn(T) -> Result<U, E> + Send + Sync + 'static,
    {
        let name = name.into().name.into_owned();
        assert!(self.entry(&name).is_none(), "{} has a function {name:?} already", self.name);
        let signature = format!("{name}{}", signature::<T, U, E>());
        let typed: Typed<T, U, E> = Arc::new(f);
        let same = Arc::clone(&typed);
        let says = signature.clone();
        let coded = move |code: &[u8]| {
            // The code that `serde` calls may panic, too.
            let outcome = catch(|| {
                let item = code::decode::<T>(code).map_err(|error| undecodable("an item", &says, &error))?;
                match same(item) {
                    Ok(value) => sent(&value, &says).map(Outcome::Value),
                    Err(error) => sent(&error, &says).map(Outcome::Error),
                }
            });
            match outcome {
                Ok(outcome) => outcome.unwrap_or_else(Outcome::Undecodable),
                Err(message) => Outcome::Panic(message),
            }
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
    ) -> Result<(Typed<T, U, E>, String), Error> {
        let Some(entry) = self.entry(name) else {
            return Err(Error::NoFunction { function: name.to_owned(), has: self.identity().to_string() });
        };
        let typed = entry.typed.downcast_ref().map(Arc::clone).ok_or_else(|| {
            let asked = format!("{name}{}", signature::<T, U, E>());
            Error::OtherTypes { has: entry.signature.clone(), asked }
        })?;
        Ok((typed, entry.signature.clone()))
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

/// The code of a result or an error. A debug build looks whether it is the same on the other side.
fn sent<T: Serialize + DeserializeOwned>(value: &T, function: &str) -> Result<Vec<u8>, String> {
    let code = code::encode(value).map_err(|error| unencodable("a result", function, &error))?;
    if cfg!(debug_assertions) {
        code::check::<T>(&code).map_err(|error| unencodable("a result", function, &error))?;
    }
    Ok(code)
}

/// The reason why a value of a function cannot travel.
pub(crate) fn unencodable(what: &str, function: &str, error: &code::Failure) -> String {
    format!("{what} of {function} cannot be sent: {error}")
}

pub(crate) fn undecodable(what: &str, function: &str, error: &code::Failure) -> String {
    format!("{what} of {function} cannot be decoded: {error}")
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
}
