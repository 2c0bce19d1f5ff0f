//! The libraries that are in no registry, and the sources of this crate.

use std::path::{Path, PathBuf};

/// Checkouts of libraries that are in no registry.
#[derive(Debug, Clone, Default)]
pub struct Checkouts {
    /// That of github.com/GMAP/rust-ssp.
    pub rust_ssp: Option<PathBuf>,
    /// That of github.com/fastflow/fastflow.
    pub fastflow: Option<PathBuf>,
    /// That of github.com/taskflow/taskflow.
    pub taskflow: Option<PathBuf>,
}

/// A file or folder of this crate.
pub fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}
