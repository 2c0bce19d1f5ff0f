//! Where sources and builds lie, and how cargo builds.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Checkouts of libraries that are in no registry.
#[derive(Debug, Clone, Default)]
pub struct Checkouts {
    pub rust_ssp: Option<PathBuf>,
    pub fastflow: Option<PathBuf>,
    pub taskflow: Option<PathBuf>,
}

/// The folder of builds in which this program lies.
pub fn builds() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    program.ancestors().nth(2).map_or_else(|| "target".into(), Path::to_owned)
}

/// A file or folder of this crate.
pub fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Builds a release with cargo in a folder.
///
/// # Errors
/// The first error that cargo tells.
pub fn cargo(what: &str, arguments: &[&OsStr], folder: &Path) -> Result<(), String> {
    eprintln!("building {what} in {}", folder.display());
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--release", "--quiet"]).args(arguments).arg("--target-dir").arg(folder);
    let said = build.output().map_err(|error| format!("cargo did not start: {error}"))?;
    if said.status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&said.stderr);
    let reason = words.lines().find(|line| line.starts_with("error")).unwrap_or("no reason given");
    Err(format!("not built ({reason})"))
}
