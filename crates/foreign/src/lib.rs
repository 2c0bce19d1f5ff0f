//! Calls the other programs that tests compare with, and reports those that are missing.
//!
//! A test asks [`have`] whether a program is installed. If it is not, the test leaves out the part that needs
//! it, and this is noted. The last test program of a crate calls [`tell`], which prints in one line what was
//! left out and which packages have the programs.
//!
//! If the environment variable [`REQUIRED`] is set, a missing program that is in a Debian package fails the
//! test that asks for it. So the tests leave nothing out on a machine on which the packages were installed.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};

/// The environment variable that makes a missing program a failure.
pub const REQUIRED: &str = "FOREIGN_PROGRAMS_REQUIRED";

/// Each program that a test may ask for, with its Debian package. Debian has no package of the last two.
const PACKAGES: &[(&str, &str)] = &[
    ("7z", "p7zip-full"),
    ("bash", "bash"),
    ("bgzip", "tabix"),
    ("bsdcat", "libarchive-tools"),
    ("bunzip2", "bzip2"),
    ("busybox", "busybox"),
    ("bzcat", "bzip2"),
    ("bzdiff", "bzip2"),
    ("bzgrep", "bzip2"),
    ("bzip2", "bzip2"),
    ("bzip2recover", "bzip2"),
    ("bzless", "bzip2"),
    ("bzmore", "bzip2"),
    ("c++", "g++"),
    ("cc", "gcc"),
    ("cjpeg", "libjpeg-turbo-progs"),
    ("clang", "clang"),
    ("clang++", "clang"),
    ("clzip", "clzip"),
    ("cmake", "cmake"),
    ("compress", "ncompress"),
    ("curl", "curl"),
    ("djpeg", "libjpeg-turbo-progs"),
    ("erl", "erlang-base"),
    ("go", "golang-go"),
    ("grub-fstest", "grub-common"),
    ("gunzip", "gzip"),
    ("gzexe", "gzip"),
    ("gzip", "gzip"),
    ("igzip", "isal"),
    ("ip", "iproute2"),
    ("java", "default-jdk-headless"),
    ("lbzcat", "lbzip2"),
    ("lbunzip2", "lbzip2"),
    ("lbzip2", "lbzip2"),
    ("less", "less"),
    ("libdeflate-gunzip", "libdeflate-tools"),
    ("libdeflate-gzip", "libdeflate-tools"),
    ("lzgrep", "xz-utils"),
    ("lzip", "lzip"),
    ("lzcat", "xz-utils"),
    ("lzma", "xz-utils"),
    ("unlzma", "xz-utils"),
    ("lzip.lzip", "lzip"),
    ("nats-server", "nats-server"),
    ("node", "nodejs"),
    ("pbzip2", "pbzip2"),
    ("make", "make"),
    ("perl", "perl"),
    ("php", "php-cli"),
    ("pigz", "pigz"),
    ("pkg-config", "pkg-config"),
    ("prlimit", "util-linux"),
    ("pixz", "pixz"),
    ("plzip", "plzip"),
    ("python3", "python3"),
    ("pzstd", "zstd"),
    ("qemu-system-x86_64", "qemu-system-x86"),
    ("ruby", "ruby"),
    ("script", "bsdutils"),
    ("setpriv", "util-linux"),
    ("sha256sum", "coreutils"),
    ("strace", "strace"),
    ("tar", "tar"),
    ("toybox", "toybox"),
    ("unpigz", "pigz"),
    ("unshare", "util-linux"),
    ("unxz", "xz-utils"),
    ("unzip", "unzip"),
    ("unzstd", "zstd"),
    ("xz", "xz-utils"),
    ("xzcat", "xz-utils"),
    ("xzdiff", "xz-utils"),
    ("xzgrep", "xz-utils"),
    ("xzless", "xz-utils"),
    ("xzmore", "xz-utils"),
    ("zcat", "gzip"),
    ("zcmp", "gzip"),
    ("zdiff", "gzip"),
    ("zforce", "gzip"),
    ("zgrep", "gzip"),
    ("zless", "gzip"),
    ("zmore", "gzip"),
    ("zip", "zip"),
    ("znew", "gzip"),
    ("zstd", "zstd"),
    ("zstdcat", "zstd"),
    ("zstdgrep", "zstd"),
    ("zstdless", "zstd"),
    ("crabz", ""),
    ("gzippy", ""),
];

/// Each header of C or C++ that a test may need, with its Debian package.
const HEADERS: [(&str, &str); 3] =
    [("bzlib.h", "libbz2-dev"), ("lzlib.h", "liblz-dev"), ("oneapi/tbb/parallel_pipeline.h", "libtbb-dev")];

/// Each library of another language that a test may need: a folder or file of it, and its Debian package.
const LIBRARIES: [(&str, &str); 1] =
    [("/usr/share/gocode/src/github.com/klauspost/compress/zstd", "golang-github-klauspost-compress-dev")];

/// The Debian package of the kernel that tests boot in a virtual machine.
const KERNEL: &str = "linux-image-cloud-amd64";

/// The Debian packages of all programs, headers and libraries that have one, and of the kernel where that is one of this processor.
pub fn packages() -> BTreeSet<&'static str> {
    let kernel = cfg!(target_arch = "x86_64").then_some(KERNEL);
    let all = PACKAGES.iter().chain(&HEADERS).chain(&LIBRARIES).map(|(_, package)| *package).chain(kernel);
    all.filter(|package| !package.is_empty()).collect()
}

/// A command in an environment that is the same on every machine: without options for `gzip` or `xz`, without
/// a language, and without the width of a terminal. It keeps the paths in which programs are found.
///
/// The program is looked for here. If [`Command`] looked for it in a changed environment, it would fork, which takes milliseconds
/// in a test program that has used much memory.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    const KEPT: [&str; 5] = ["PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "LLVM_PROFILE_FILE"];
    let program = program.as_ref();
    let is_name = !program.as_encoded_bytes().contains(&b'/');
    let mut command =
        Command::new(is_name.then(|| path(program)).flatten().as_deref().unwrap_or(program.as_ref()));
    command.arg0(program);
    command.env_clear().env("LC_ALL", "C").env("SHELL", "/bin/sh");
    command.envs(KEPT.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    command
}

/// Runs a command with `input` on its standard input.
///
/// # Panics
/// If it cannot be started.
pub fn fed(mut command: Command, input: &[u8]) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let mut stdin = child.stdin.take().expect("it was asked for");
    std::thread::scope(|scope| {
        // A program may end before it has read all of its input.
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().expect("a child that was started")
    })
}

/// Whether `program` is installed. If it is not, the test must leave out the part that needs it.
///
/// # Panics
/// If it is not installed, Debian has a package of it, and [`REQUIRED`] is set. Also if the table of packages does not
/// have it, on every machine.
pub fn have(program: &str) -> bool {
    let package = package(program);
    if is_installed(program) {
        let is_another = is_of_zutils(program);
        if is_another {
            leave_out(&format!("comparisons with {program} (zutils has replaced that of {package})"));
        }
        return !is_another;
    }
    let is_required = std::env::var_os(REQUIRED).is_some();
    assert!(!is_required || package.is_empty(), "{program} is not installed: apt-get install {package}");
    note(program);
    false
}

/// The output of `program` for `input`, which it must accept. `None` if it is not installed.
///
/// # Panics
/// If it is installed and fails.
pub fn through(program: &str, arguments: &[&str], input: &[u8]) -> Option<Vec<u8>> {
    if !have(program) {
        return None;
    }
    let mut command = command(program);
    command.args(arguments);
    let output = fed(command, input);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {said}");
    Some(output.stdout)
}

/// Whether a library of another language is installed, in this folder or file. If it is not, the test must leave out the
/// part that needs it.
///
/// # Panics
/// If it is not installed, and [`REQUIRED`] is set. Also if the table of libraries does not have it, on every machine.
pub fn have_library(path: &str) -> bool {
    let known = LIBRARIES.iter().find(|(name, _)| *name == path);
    let (_, package) = known.unwrap_or_else(|| panic!("{path}: add it to `LIBRARIES`"));
    let is_there = Path::new(path).exists();
    let is_required = std::env::var_os(REQUIRED).is_some();
    assert!(!is_required || is_there, "{path} does not exist: apt-get install {package}");
    if !is_there {
        leave_out(&format!("what needs {path} (apt-get install {package})"));
    }
    is_there
}

/// Notes that the compiler does not find a header. The test must leave out the part that needs it.
///
/// # Panics
/// If Debian has a package of it, and [`REQUIRED`] is set.
pub fn lack_header(header: &str) {
    let package = HEADERS.iter().find(|(name, _)| *name == header).map(|(_, package)| *package);
    let how = package.map_or_else(
        || "which Debian does not have".to_owned(),
        |package| format!("apt-get install {package}"),
    );
    let is_required = std::env::var_os(REQUIRED).is_some();
    assert!(!is_required || package.is_none(), "<{header}> is not installed: {how}");
    leave_out(&format!("programs with <{header}> ({how})"));
}

/// The file of a kernel of Debian. `None` if there is none that can be read. Then the test must leave out the part that needs it.
///
/// # Panics
/// If there is none, and [`REQUIRED`] is set.
pub fn kernel() -> Option<PathBuf> {
    let files = fs::read_dir("/boot").into_iter().flatten().flatten().map(|entry| entry.path());
    let is_kernel = |path: &PathBuf| {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        name.starts_with("vmlinuz-") && name.ends_with("-cloud-amd64") && fs::File::open(path).is_ok()
    };
    let found = files.filter(is_kernel).max();
    let is_required = std::env::var_os(REQUIRED).is_some() && cfg!(target_arch = "x86_64");
    assert!(!is_required || found.is_some(), "there is no kernel in /boot: apt-get install {KERNEL}");
    if found.is_none() {
        leave_out(&format!("a boot (there is no kernel in /boot: apt-get install {KERNEL})"));
    }
    found
}

/// Notes something that was left out for another reason than a missing program, such as "a full file system
/// (mounting is not permitted)".
pub fn leave_out(what: &str) {
    note(&format!(" {what}"));
}

/// Prints in one line what was left out since the last call of this function. Prints nothing if nothing was
/// left out. The last test program of a crate calls only this function in its `main`.
pub fn tell() {
    let Ok(text) = fs::read_to_string(notes()) else { return };
    let _ = fs::remove_file(notes());
    if let Some(line) = told(text.lines().filter(|line| !is_installed(line))) {
        println!("{line}");
    }
}

fn told<'n>(notes: impl Iterator<Item = &'n str>) -> Option<String> {
    let notes: BTreeSet<&str> = notes.collect();
    let (others, programs): (Vec<&str>, Vec<&str>) = notes.iter().partition(|note| note.starts_with(' '));
    let packages: BTreeSet<&str> = programs.iter().map(|program| package(program)).collect();
    let packages: Vec<&str> = packages.into_iter().filter(|package| !package.is_empty()).collect();
    let mut told = Vec::new();
    if !programs.is_empty() {
        let install = match &packages[..] {
            [] => "which Debian does not have".to_owned(),
            packages => format!("apt-get install {}", packages.join(" ")),
        };
        told.push(format!("comparisons with {} ({install})", programs.join(", ")));
    }
    told.extend(others.iter().map(|other| other.trim_start().to_owned()));
    (!told.is_empty()).then(|| format!("not checked on this machine: {}", told.join("; ")))
}

/// The file of the program with this name.
fn path(program: &OsStr) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// Whether there is such a program. Programs of busybox do not count, and neither does a Python without its
/// compression modules.
fn is_installed(program: &str) -> bool {
    static FOUND: Mutex<BTreeMap<String, bool>> = Mutex::new(BTreeMap::new());
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    *found.entry(program.to_owned()).or_insert_with(|| {
        let stands_in = |path: PathBuf| {
            program != "busybox" && path.canonicalize().is_ok_and(|path| path.ends_with("busybox"))
        };
        let has_modules = || {
            let mut python = command(program);
            python.args(["-c", "import bz2, gzip, lzma"]);
            fed(python, b"").status.success()
        };
        path(program.as_ref()).is_some_and(|path| !stands_in(path)) && (program != "python3" || has_modules())
    })
}

/// Whether a program of gzip is that of the package zutils, which takes its name and does other things.
fn is_of_zutils(program: &str) -> bool {
    static FOUND: Mutex<BTreeMap<String, bool>> = Mutex::new(BTreeMap::new());
    if !["zcat", "zcmp", "zdiff", "zgrep"].contains(&program) {
        return false;
    }
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    *found.entry(program.to_owned()).or_insert_with(|| {
        let mut version = command(program);
        version.arg("--version");
        String::from_utf8_lossy(&fed(version, b"").stdout).contains("zutils")
    })
}

fn package(program: &str) -> &'static str {
    let known = PACKAGES.iter().find(|(name, _)| *name == program);
    known.unwrap_or_else(|| panic!("{program}: no package is known of it; add it to `PACKAGES`")).1
}

/// The file in which notes are kept between the test programs of a run. It is in the same folder as these
/// programs.
fn notes() -> PathBuf {
    std::env::current_exe().expect("a running program").with_file_name("left-out-by-tests")
}

fn note(line: &str) {
    let file = fs::File::options().create(true).append(true).open(notes());
    let written = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
    written.expect("the folder of the test program can be written to");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_out_is_told_in_one_line() {
        assert_eq!(told([].into_iter()), None);
        let told = told(["pzstd", "crabz", "zstd", "pigz", "zstd", " a full disk (no root)"].into_iter());
        assert_eq!(
            told.unwrap(),
            "not checked on this machine: comparisons with crabz, pigz, pzstd, zstd (apt-get install pigz zstd); \
             a full disk (no root)"
        );
    }

    #[test]
    fn programs_get_the_same_environment_everywhere() {
        let mut env = command("env");
        env.env("OWN", "1");
        let said = String::from_utf8(fed(env, b"").stdout).unwrap();
        let names: BTreeSet<&str> = said.lines().filter_map(|line| line.split('=').next()).collect();
        assert!(names.contains("OWN") && names.contains("LC_ALL"), "{said}");
        assert!(!names.contains("CARGO_PKG_NAME"), "{said}");
    }
}
