//! The identity of a program or a worker: its name, its version and its functions.

use std::fmt;

use serde::{Deserialize, Serialize};

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
