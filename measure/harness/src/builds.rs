//! Programs that are built when they are measured, and where they and their sources lie.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

/// The folder of the programs that cargo builds for this one: a debug build, as in tests, measures debug builds.
pub const PROFILE: &str = if cfg!(debug_assertions) { "debug" } else { "release" };

/// The folder of builds in which this program lies.
pub fn folder() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    // A test lies in `debug/deps`.
    let is_test = program.parent().is_some_and(|folder| folder.ends_with("deps"));
    program.ancestors().nth(if is_test { 3 } else { 2 }).map_or_else(|| "target".into(), Path::to_owned)
}

/// A file or folder of `measure`, such as `rivals`.
pub fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name)
}

/// Builds a package of a workspace of rivals, and returns the folder of its programs.
///
/// # Errors
/// Those of [`run`].
pub fn rival(workspace: &Path, package: &str) -> Result<PathBuf, String> {
    let target = folder().join("rivals");
    run(cargo(&workspace.join("Cargo.toml"), &target).args(["--locked", "--package", package]))?;
    Ok(target.join(PROFILE))
}

/// Builds packages of Anabranch, and returns the folder of their programs.
///
/// # Errors
/// Those of [`run`].
pub fn anabranch(packages: &[&str]) -> Result<PathBuf, String> {
    let mut build = cargo(&source("../Cargo.toml"), &folder());
    run(build.args(packages.iter().flat_map(|package| ["--package", package])))?;
    Ok(folder().join(PROFILE))
}

/// The command that builds with cargo in a folder, as this program was built.
pub fn cargo(manifest: &Path, target: &Path) -> Command {
    let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build.args(["build", "--quiet", "--manifest-path"]).arg(manifest);
    if !cfg!(debug_assertions) {
        build.arg("--release");
    }
    build.arg("--target-dir").arg(target);
    build
}

/// Runs a build.
///
/// # Errors
/// The name of the program, and the first line with an error that it printed, or else the last line.
pub fn run(build: &mut Command) -> Result<(), String> {
    let program =
        Path::new(build.get_program()).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let said = build.output().map_err(|error| format!("{program}: {error}"))?;
    if said.status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&said.stderr);
    let last = || words.lines().rev().find(|line| !line.trim().is_empty());
    let reason = words.lines().find(|line| line.contains("error")).or_else(last);
    Err(format!("{program} failed: {}", reason.unwrap_or("no reason given").trim()))
}

/// Writes a file, unless it has this content already: cargo looks at the time of a file.
///
/// # Errors
/// Why it cannot be written.
pub fn put(path: &Path, text: &str) -> io::Result<()> {
    if fs::read_to_string(path).is_ok_and(|there| there == text) {
        return Ok(());
    }
    fs::write(path, text)
}

/// The compiler for C++: that of the variable `CXX`, or `c++`.
pub fn compiler() -> OsString {
    std::env::var_os("CXX").unwrap_or_else(|| "c++".into())
}

/// Whether the compiler accepts this text with these options.
pub fn compiles(options: &[&OsStr], text: &str) -> bool {
    let mut check = Command::new(compiler());
    check.args(["-std=c++20", "-fsyntax-only"]).args(options).args(["-x", "c++", "-"]);
    let started = check.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let Ok(mut checking) = started else { return false };
    // A compiler that ends before it has read the text has failed.
    let _ = checking.stdin.take().map(|mut stdin| stdin.write_all(text.as_bytes()));
    checking.wait().is_ok_and(|ended| ended.success())
}

/// Compiles a program in C++, unless it was built in the same way from sources that have not changed since.
///
/// # Errors
/// Those of [`run`].
pub fn compiled(
    compiler: &OsStr,
    options: &[&OsStr],
    source: &Path,
    libraries: &[&OsStr],
    program: &Path,
) -> Result<(), String> {
    let mut build = Command::new(compiler);
    build.args(options).arg(source).args(libraries).arg("-o").arg(program);
    let (command, of_before) = (format!("{build:?}"), program.with_extension("command"));
    let changed = |path: &Path| fs::metadata(path).and_then(|about| about.modified()).ok();
    // Headers lie beside the source or beside its folder, or in this crate.
    let beside =
        |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources = source.ancestors().skip(1).take(3).chain([here]).flat_map(beside);
    let inputs = sources.chain(libraries.iter().map(PathBuf::from)).chain([compiler.into()]);
    let newest = inputs.filter(|path| path.is_file()).filter_map(|path| changed(&path)).max();
    let is_fresh = |built: SystemTime| newest.is_none_or(|newest| newest < built);
    if fs::read_to_string(&of_before).is_ok_and(|before| before == command)
        && changed(program).is_some_and(is_fresh)
    {
        return Ok(());
    }
    run(&mut build)?;
    fs::write(&of_before, command).map_err(|error| format!("{}: {error}", of_before.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_that_fails_has_a_reason() {
        let missing = run(&mut Command::new("./no-such-compiler"));
        assert!(missing.is_err_and(|reason| reason.starts_with("no-such-compiler: ")));
    }

    #[cfg(unix)]
    #[test]
    fn the_reason_is_the_error_or_the_last_line() {
        let failed = |script: &str| run(Command::new("sh").args(["-c", script])).unwrap_err();
        assert_eq!(failed("echo a >&2; echo 'an error' >&2; echo b >&2; false"), "sh failed: an error");
        assert_eq!(failed("echo a >&2; echo b >&2; false"), "sh failed: b");
        assert_eq!(failed("false"), "sh failed: no reason given");
    }
}
