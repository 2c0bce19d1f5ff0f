//! Task systems and channels that run the synthetic benchmark with one producer and one consumer, or whole programs.
//!
//! They are separate programs, in `rivals/` of this crate: a Rust workspace, and a C++ file. They are built when they
//! are measured, and run in their own processes.

mod peer;
mod table;

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Part;

use peer::Peer;

pub(super) use table::run;

/// The kind of a rival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A task for each burst.
    Tasks,
    /// A thread for each process, and a channel of bursts.
    Channel,
}

/// A rival.
#[derive(Debug)]
struct Rival {
    /// The name by which its process knows it.
    name: &'static str,
    label: &'static str,
    kind: Kind,
    /// Whether the rival is in the C++ process.
    is_cpp: bool,
    /// The software that it needs.
    needs: &'static str,
}

const RIVALS: [Rival; 7] = [
    rust("rayon-join", "rayon `join`", Kind::Tasks),
    rust("rayon-scope", "rayon `scope`", Kind::Tasks),
    cpp("openmp-depend", "OpenMP `task depend`", "a C++ compiler with -fopenmp"),
    cpp("openmp-task", "OpenMP `task`", "a C++ compiler with -fopenmp"),
    cpp("tbb-pipeline", "oneTBB `parallel_pipeline`", "libtbb-dev"),
    cpp("tbb-group", "oneTBB `task_group`", "libtbb-dev"),
    rust("crossbeam", "crossbeam channels", Kind::Channel),
];

const fn rust(name: &'static str, label: &'static str, kind: Kind) -> Rival {
    Rival { name, label, kind, is_cpp: false, needs: "cargo" }
}

const fn cpp(name: &'static str, label: &'static str, needs: &'static str) -> Rival {
    Rival { name, label, kind: Kind::Tasks, is_cpp: true, needs }
}

/// The processes of the task systems and channels to compare with, or the reasons why they are absent.
#[derive(Debug)]
pub struct Rivals {
    rust: Process,
    cpp: Process,
    /// The programs by stages.
    stages: Process,
}

/// A process, or the reason why it is absent.
type Process = std::result::Result<RefCell<Peer>, String>;

impl Rivals {
    /// Returns no rivals, for this reason.
    pub fn absent(reason: &str) -> Self {
        let absent = || Err(reason.to_owned());
        Self { rust: absent(), cpp: absent(), stages: absent() }
    }

    /// Builds the rivals of these parts next to this program, unless they were built before, and starts their
    /// processes. Rivals that cannot be built here are absent, with the reason.
    pub fn build(parts: &[Part]) -> Self {
        let folder = folder();
        let mut rivals = Self::absent("not asked for");
        let needs = |part| parts.contains(&part);
        if needs(Part::Rivals) || needs(Part::Frames) {
            let program = folder.join("signal-rivals/release/signal-rivals");
            rivals.rust = built(cargo("signal-rivals")).and_then(|()| started(&program));
        }
        if needs(Part::Rivals) {
            let (mut build, program) =
                (Command::new(source("cpp/build.sh")), folder.join("signal-rivals-cpp"));
            build.arg(&program);
            rivals.cpp = built(build).and_then(|()| started(&program));
        }
        if needs(Part::Depend) {
            let (mut build, program) =
                (Command::new(source("cpp/build.sh")), folder.join("signal-rivals-stages"));
            build.arg(&program).arg(folder.join("signal-rivals/release/libsignal_stages.a"));
            rivals.stages =
                built(cargo("signal-stages")).and_then(|()| built(build)).and_then(|()| started(&program));
        }
        rivals
    }

    /// Returns the process that runs programs by stages, or the reason why it is absent.
    pub(super) fn stages(&self) -> std::result::Result<&RefCell<Peer>, String> {
        self.stages.as_ref().map_err(String::clone)
    }

    /// Returns the process that runs programs by frame, or the reason why it is absent.
    pub(super) fn by_frame(&self) -> std::result::Result<&RefCell<Peer>, String> {
        self.rust.as_ref().map_err(String::clone)
    }

    /// Returns the process that runs a rival, or the reason why it is absent.
    fn of(&self, rival: &Rival) -> std::result::Result<&RefCell<Peer>, String> {
        let peer = if rival.is_cpp { &self.cpp } else { &self.rust };
        let peer = peer.as_ref().map_err(String::clone)?;
        let has = peer.borrow().versions.contains_key(rival.name);
        if has { Ok(peer) } else { Err(format!("needs {}", rival.needs)) }
    }
}

/// Returns the command that builds a package of the rivals' workspace.
fn cargo(package: &str) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let words = ["build", "--release", "--quiet", "--locked", "--package", package, "--manifest-path"];
    let mut command = Command::new(cargo);
    command.args(words.map(OsString::from)).arg(source("Cargo.toml"));
    command.arg("--target-dir").arg(folder().join("signal-rivals"));
    command
}

/// Builds a program.
fn built(mut build: Command) -> std::result::Result<(), String> {
    let name = build.get_program().to_string_lossy().into_owned();
    let name = Path::new(&name).file_name().map_or(name.clone(), |name| name.to_string_lossy().into_owned());
    let said = build.output().map_err(|error| format!("{name}: {error}"))?;
    if !said.status.success() {
        let words = String::from_utf8_lossy(&said.stderr);
        let reason = words.lines().find(|line| line.contains("error") || line.starts_with("no "));
        let reason = reason.or(words.lines().last()).unwrap_or("no reason given");
        return Err(format!("{name} failed: {}", reason.trim()));
    }
    Ok(())
}

/// Starts a program.
fn started(program: &Path) -> Process {
    Peer::start(Command::new(program)).map(RefCell::new).map_err(|error| error.to_string())
}

/// Returns the folder for builds, that of this program's build.
fn folder() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    program.ancestors().nth(2).map_or_else(|| "target".into(), Path::to_owned)
}

/// Returns the path of a file of the rivals.
fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../rivals/signals").join(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_rivals_differ_and_their_sources_have_them() {
        let rust = std::fs::read_to_string(source("src/main.rs")).unwrap();
        let cpp = std::fs::read_to_string(source("cpp/rivals.cpp")).unwrap();
        for (at, rival) in RIVALS.iter().enumerate() {
            assert!(RIVALS[..at].iter().all(|other| other.name != rival.name && other.label != rival.label));
            let text = if rival.is_cpp { &cpp } else { &rust };
            assert!(
                text.contains(&format!("(\"{}\",", rival.name))
                    || text.contains(&format!("{{\"{}\",", rival.name))
            );
        }
    }

    #[test]
    fn a_rival_that_is_not_there_has_a_reason() {
        let rivals = Rivals::absent("nobody asked");
        assert!(RIVALS.iter().all(|rival| rivals.of(rival).is_err_and(|reason| reason == "nobody asked")));
        assert!(rivals.stages().is_err() && rivals.by_frame().is_err());
        let missing = built(Command::new("./no-such-compiler"));
        assert!(missing.is_err_and(|reason| reason.starts_with("no-such-compiler: ")));
        assert!(started(Path::new("./no-such-program")).is_err());
    }
}
