//! The part of the Python package `abz` that is written in Rust: compression in memory, and the unbuffered files behind
//! Python's own buffers. `python/abz/__init__.py` has the rest.
#![forbid(unsafe_code)]

mod errors;
mod file;
mod memory;
mod options;
mod reader;
mod threads;
mod writer;

use pyo3::prelude::*;

/// The part of the package that is written in Rust.
#[pymodule]
mod _abz {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::errors::BadFile;
    #[pymodule_export]
    use crate::memory::{compress, decompress};
    #[pymodule_export]
    use crate::reader::{RawReader, make_index};
    #[pymodule_export]
    use crate::writer::RawWriter;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
