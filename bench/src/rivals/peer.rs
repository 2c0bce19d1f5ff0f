//! Rivals that run in a process of their own and are asked for one run at a time.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use crate::work::{Digest, Work};

/// A run that takes longer does not come back.
const PATIENCE: Duration = Duration::from_secs(60);
/// Long enough for the threads of the run before to have fallen asleep.
pub const SETTLE: Duration = Duration::from_millis(1);

/// A process that runs rivals.
#[derive(Debug)]
pub struct Peer {
    child: Child,
    ask: ChildStdin,
    answers: Receiver<String>,
    /// The rivals that it has, with their versions.
    pub versions: BTreeMap<String, String>,
}

/// What is asked of a rival.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    pub name: &'a str,
    pub setting: usize,
    pub work: Work,
    pub items: u64,
}

impl Peer {
    /// The Rust rivals: `bench/rivals`, built as this program was.
    ///
    /// # Errors
    /// Why they cannot be built or started.
    pub fn rust() -> Result<Self, String> {
        let folder = folder().join("rivals");
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let words = ["build", "--release", "--quiet", "--locked", "--manifest-path"].map(OsString::from);
        let mut build = Command::new(cargo);
        build.args(words).arg(source("Cargo.toml")).arg("--target-dir").arg(&folder);
        done(build)?;
        Self::start(&folder.join("release").join("anabranch-rivals"))
    }

    /// The C++ rivals that are installed.
    ///
    /// # Errors
    /// Why they cannot be built or started.
    pub fn cpp() -> Result<Self, String> {
        let program = folder().join("rivals-cpp");
        let mut build = Command::new(source("cpp/build.sh"));
        build.arg(&program);
        done(build)?;
        Self::start(&program)
    }

    fn start(program: &Path) -> Result<Self, String> {
        let problem = |error| format!("{}: {error}", program.display());
        let mut child =
            Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(problem)?;
        let ask = child.stdin.take().expect("it is piped");
        let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let (sender, answers) = channel();
        thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let mut peer = Self { child, ask, answers, versions: BTreeMap::new() };
        loop {
            let line = peer.hear()?;
            let Some((name, version)) = line.split_once(' ') else { return Ok(peer) };
            peer.versions.insert(name.into(), version.into());
        }
    }

    /// One run: its seconds by the peer's own clock, and its digest.
    ///
    /// # Errors
    /// If the peer has ended, or does not answer for a minute.
    pub fn run(&mut self, run: Run) -> Result<(f64, Digest), String> {
        thread::sleep(SETTLE);
        let Run { name, setting, work, items } = run;
        let (rounds, uneven) = work.calibration();
        writeln!(self.ask, "{name} {setting} {rounds} {} {items}", u8::from(uneven))
            .map_err(|error| format!("{name}: {error}"))?;
        let line = self.hear()?;
        let answer = line.split_once(' ').and_then(|(seconds, digest)| {
            Some((seconds.parse().ok()?, Digest::of_number(digest.parse().ok()?)))
        });
        answer.ok_or_else(|| format!("{name} answered {line}"))
    }

    fn hear(&mut self) -> Result<String, String> {
        let line = self.answers.recv_timeout(PATIENCE);
        line.map_err(|error| format!("no answer: {error}"))
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // Nothing is lost: it keeps no state.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Where builds go: beside the build of this program.
fn folder() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    program.ancestors().nth(2).map_or_else(|| "target".into(), Path::to_owned)
}

/// A file of `bench/rivals`.
fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("rivals").join(name)
}

/// Runs a build; its last words if it fails.
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
