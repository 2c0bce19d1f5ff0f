//! The spelling of the options that messages mention, which depends on the tool.

use std::fmt;

/// The spelling of an option that takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    Letter(char),
    Name(&'static str),
    /// The tool has no such option; `abz` has it under this name.
    OfAbz(&'static str),
}

/// The options that messages mention.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    pub(crate) threads: Spelling,
    /// A memory limit, in bytes or with a unit.
    pub(crate) memory_to_compress: Spelling,
    pub(crate) memory_to_decompress: Spelling,
    /// The logarithm to base 2 of a window in bytes.
    pub(crate) window: Spelling,
    pub(crate) dictionary: Spelling,
}

/// The options of `abz`.
pub(crate) const OWN: Options = Options {
    threads: Spelling::Letter('p'),
    memory_to_compress: Spelling::Name("memlimit"),
    memory_to_decompress: Spelling::Name("memlimit"),
    window: Spelling::Name("long"),
    dictionary: Spelling::Letter('D'),
};

/// The options of `abz`, named as such, for a tool that has none of them.
pub(crate) const OF_ABZ: Options = Options {
    threads: Spelling::OfAbz("processes"),
    memory_to_compress: Spelling::OfAbz("memlimit"),
    memory_to_decompress: Spelling::OfAbz("memlimit"),
    window: Spelling::OfAbz("long"),
    dictionary: Spelling::OfAbz("dictionary"),
};

impl Spelling {
    /// Returns the option with a value.
    pub(crate) fn with(self, value: &dyn fmt::Display) -> String {
        match self {
            Spelling::Letter(_) => format!("{self}{value}"),
            Spelling::Name(_) | Spelling::OfAbz(_) => format!("{self}={value}"),
        }
    }
}

impl fmt::Display for Spelling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Spelling::Letter(letter) => write!(f, "-{letter}"),
            Spelling::Name(name) => write!(f, "--{name}"),
            Spelling::OfAbz(name) => write!(f, "abz --{name}"),
        }
    }
}
