//! Rivals that run in a process of their own, one run at a time.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use measure_harness::process::Process;
use measure_harness::work::{Digest, Work};

/// A run that takes longer than this has failed.
const PATIENCE: Duration = Duration::from_secs(60);
/// A pause that is long enough for the threads of the previous run to go to sleep.
pub const SETTLE: Duration = Duration::from_millis(1);

/// A process that runs rivals.
#[derive(Debug)]
pub struct Peer {
    process: Process,
    /// The rivals that it can run, with their versions.
    pub versions: BTreeMap<String, String>,
}

/// A run that a rival is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    pub name: &'a str,
    pub setting: usize,
    pub work: Work,
    pub items: u64,
}

impl Peer {
    /// Starts the Rust rivals: `measure/rivals/promises`, built like this program.
    ///
    /// # Errors
    /// Why they cannot be built or started.
    pub fn rust() -> Result<Self, String> {
        Self::cargo("promises", "promise-rivals")
    }

    /// Starts the rivals for windows: `measure/rivals/windows`, built like this program.
    ///
    /// # Errors
    /// Why they cannot be built or started.
    pub fn windows() -> Result<Self, String> {
        Self::cargo("windows", "window-rivals")
    }

    /// Starts a ring of tokio tasks: `measure/rivals/ring`, built like this program.
    ///
    /// # Errors
    /// Why it cannot be built or started.
    pub fn ring_of_tasks() -> Result<Self, String> {
        Self::cargo("ring", "ring-rivals")
    }

    /// Starts a ring of goroutines, if Go is installed.
    ///
    /// # Errors
    /// Why it cannot be built or started.
    pub fn ring_of_goroutines() -> Result<Self, String> {
        let program = folder().join("rivals-ring-go");
        let mut build = Command::new("go");
        build.arg("build").arg("-o").arg(&program).arg(source("ring", "ring.go"));
        done(build)?;
        Self::start(&program)
    }

    /// Builds and starts the program of a package of the rivals.
    fn cargo(name: &str, program: &str) -> Result<Self, String> {
        let folder = folder().join("rivals");
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let words = ["build", "--release", "--quiet", "--locked", "--manifest-path"].map(OsString::from);
        let mut build = Command::new(cargo);
        build.args(words).arg(source(name, "Cargo.toml")).arg("--target-dir").arg(&folder);
        done(build)?;
        Self::start(&folder.join("release").join(program))
    }

    /// Starts the C++ rivals that are installed.
    ///
    /// # Errors
    /// Why they cannot be built or started.
    pub fn cpp() -> Result<Self, String> {
        let program = folder().join("rivals-cpp");
        let mut build = Command::new(source("promises", "cpp/build.sh"));
        build.arg(&program);
        done(build)?;
        Self::start(&program)
    }

    /// Starts a program that runs contenders.
    ///
    /// # Errors
    /// Why it cannot be started.
    pub fn start(program: &Path) -> Result<Self, String> {
        let mut process = Process::start(Command::new(program))?;
        let versions = process.versions(PATIENCE)?;
        Ok(Self { process, versions })
    }

    /// Runs a rival once. Returns the seconds by the rival's own clock, and its digest.
    ///
    /// # Errors
    /// If the process has ended, or does not answer for a minute.
    pub fn run(&mut self, run: Run) -> Result<(f64, Digest), String> {
        thread::sleep(SETTLE);
        let Run { name, setting, work, items } = run;
        let (rounds, uneven) = work.calibration();
        let request = format!("{name} {setting} {rounds} {} {items}", u8::from(uneven));
        let line = self.process.ask(&request, PATIENCE).map_err(|error| format!("{name}: {error}"))?;
        let answer = line.split_once(' ').and_then(|(seconds, digest)| {
            Some((seconds.parse().ok()?, Digest::of_number(digest.parse().ok()?)))
        });
        answer.ok_or_else(|| format!("{name} answered {line}"))
    }
}

/// The folder for builds, next to the build of this program.
fn folder() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    program.ancestors().nth(2).map_or_else(|| "target".into(), Path::to_owned)
}

/// The path of a file of a package of the rivals.
fn source(package: &str, name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../rivals").join(package).join(name)
}

/// Runs a build. If it fails, returns the last lines that it printed.
fn done(mut build: Command) -> Result<(), String> {
    let program = build.get_program().to_string_lossy().into_owned();
    let said = build.output().map_err(|error| format!("{program}: {error}"))?;
    if said.status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&said.stderr);
    let last = words.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no reason given");
    Err(format!("{program} failed: {}", last.trim()))
}
