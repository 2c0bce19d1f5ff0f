//! Calls the compiler as cargo does, on programs that use the library with which these tests were linked.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::{env, fs};

/// A program that compiles only with the features that add to what a program can call.
const PROBE: &str = "
    #![allow(unused)]
    use anabranch::{Report, Stream, stream};
    fn features(report: &Report) {
        (report.to_json(), report.to_html());
        Stream::from_iter(0..1).into_async();
    }
    fn main() {}
";

/// The folder of the libraries with which this test was linked.
fn libraries() -> PathBuf {
    env::current_exe().unwrap().parent().expect("a test lies in a folder").to_owned()
}

/// The newest build of the library that has the features of this test. Cargo may have built it later with other features for
/// another program.
fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let folder = folder("probe");
        let probe = folder.join("probe.rs");
        fs::write(&probe, PROBE).expect("a folder that can be written to");
        let compiles = |library: &PathBuf| {
            call_with(library, &probe, &folder.join("probe.rmeta"), &["--emit", "metadata"]).status.success()
        };
        builds().into_iter().find(compiles).expect("the library was built for this test")
    })
}

/// The builds of the library, the newest first.
fn builds() -> Vec<PathBuf> {
    let is_ours = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libanabranch-") && name.ends_with(".rlib")
    };
    let built = |path: &PathBuf| fs::metadata(path).and_then(|data| data.modified()).ok();
    let entries = fs::read_dir(libraries()).unwrap().flatten().map(|entry| entry.path());
    let mut builds: Vec<PathBuf> = entries.filter(|path| is_ours(path)).collect();
    builds.sort_by_key(|path| Reverse(built(path)));
    builds
}

fn rustc() -> Command {
    let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    // The messages of the compiler do not depend on the language, the colours or the width of a terminal.
    rustc.env_remove("RUST_BACKTRACE").env_remove("RUSTC_LOG").env("LC_ALL", "C");
    rustc
}

/// The version of the compiler, as "1.95".
pub fn version() -> String {
    let said = rustc().arg("--version").output().expect("the compiler that built this test").stdout;
    let said = String::from_utf8(said).expect("a version is a text");
    let version = said.split_whitespace().nth(1).unwrap_or_default();
    version.rsplit_once('.').map_or(version, |(version, _)| version).to_owned()
}

/// A folder for the output of the compiler.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Checks the types of the program `source`, whose path is relative to the crate's folder.
pub fn compile(source: &Path, folder: &Path) -> Output {
    let result = folder.join(source.file_name().expect("a file")).with_extension("rmeta");
    call(source, &result, &["--emit", "metadata", "-A", "warnings"])
}

/// As `compile`, where a warning is an error.
pub fn compile_strictly(source: &Path, folder: &Path) -> Output {
    let result = folder.join(source.file_name().expect("a file")).with_extension("rmeta");
    call(source, &result, &["--emit", "metadata", "-D", "warnings"])
}

/// Compiles the program `source`. It tells each error in one line.
pub fn build(source: &Path, folder: &Path) -> Output {
    call(source, &program(source, folder), &["-C", "debuginfo=0", "--error-format", "short"])
}

/// Runs a program that `build` has made, and returns what it writes.
pub fn run(source: &Path, folder: &Path, arguments: &[&Path]) -> String {
    let output =
        Command::new(program(source, folder)).args(arguments).output().expect("the program was built");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("the program writes UTF-8")
}

fn program(source: &Path, folder: &Path) -> PathBuf {
    let name = source.file_name().expect("a file");
    folder.join(name).with_extension(env::consts::EXE_EXTENSION)
}

fn call(source: &Path, result: &Path, options: &[&str]) -> Output {
    call_with(library(), source, result, options)
}

fn call_with(library: &Path, source: &Path, result: &Path, options: &[&str]) -> Output {
    let mut library_argument = std::ffi::OsString::from("anabranch=");
    library_argument.push(library);
    let mut folder_argument = std::ffi::OsString::from("dependency=");
    folder_argument.push(libraries());
    rustc()
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["--edition", "2024", "--crate-type", "bin", "--color", "never"])
        .args(options)
        .arg("--extern")
        .arg(library_argument)
        .arg("-L")
        .arg(folder_argument)
        .arg("-o")
        .arg(result)
        .arg(source)
        .output()
        .expect("the compiler that built this test")
}
