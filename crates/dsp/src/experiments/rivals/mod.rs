//! Task systems and channels that do the synthetic benchmark with one producer and one consumer.
//!
//! They are programs of their own, in `rivals/` of this crate: a Rust workspace, and a C++ file. They are built
//! when they are measured, and run in processes of their own.

mod peer;
mod table;

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use peer::Peer;

pub(super) use table::run;

/// What a rival is.
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
    /// The name that its process knows.
    name: &'static str,
    label: &'static str,
    kind: Kind,
    /// Whether it is in the C++ process.
    is_cpp: bool,
    /// What it needs.
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

/// The processes of the task systems and channels to compare with, or why there are none.
#[derive(Debug)]
pub struct Rivals {
    rust: std::result::Result<RefCell<Peer>, String>,
    cpp: std::result::Result<RefCell<Peer>, String>,
}

impl Rivals {
    /// No rivals, for this reason.
    pub fn absent(reason: &str) -> Self {
        Self { rust: Err(reason.into()), cpp: Err(reason.into()) }
    }

    /// Builds the rivals next to this program, unless they were built before, and starts their processes. Those
    /// that cannot be built here are absent, with the reason.
    pub fn build() -> Self {
        let folder = folder();
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let words = ["build", "--release", "--quiet", "--locked", "--manifest-path"].map(OsString::from);
        let mut rust = Command::new(cargo);
        rust.args(words).arg(source("Cargo.toml")).arg("--target-dir").arg(folder.join("dsp-rivals"));
        let mut cpp = Command::new(source("cpp/build.sh"));
        cpp.arg(folder.join("dsp-rivals-cpp"));
        Self {
            rust: started(rust, &folder.join("dsp-rivals/release/dsp-rivals")),
            cpp: started(cpp, &folder.join("dsp-rivals-cpp")),
        }
    }

    /// The process that runs a rival, or why there is none.
    fn of(&self, rival: &Rival) -> std::result::Result<&RefCell<Peer>, String> {
        let peer = if rival.is_cpp { &self.cpp } else { &self.rust };
        let peer = peer.as_ref().map_err(String::clone)?;
        let has = peer.borrow().versions.contains_key(rival.name);
        if has { Ok(peer) } else { Err(format!("needs {}", rival.needs)) }
    }
}

/// Builds a program, and starts it.
fn started(mut build: Command, program: &Path) -> std::result::Result<RefCell<Peer>, String> {
    let name = build.get_program().to_string_lossy().into_owned();
    let name = Path::new(&name).file_name().map_or(name.clone(), |name| name.to_string_lossy().into_owned());
    let said = build.output().map_err(|error| format!("{name}: {error}"))?;
    if !said.status.success() {
        let words = String::from_utf8_lossy(&said.stderr);
        let reason = words.lines().find(|line| line.contains("error") || line.starts_with("no "));
        let reason = reason.or(words.lines().last()).unwrap_or("no reason given");
        return Err(format!("{name} failed: {}", reason.trim()));
    }
    Peer::start(Command::new(program)).map(RefCell::new).map_err(|error| error.to_string())
}

/// The folder for builds: that of this program's build.
fn folder() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    program.ancestors().nth(2).map_or_else(|| "target".into(), Path::to_owned)
}

/// The path of a file of the rivals.
fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("rivals").join(name)
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
        let missing = started(Command::new("./no-such-compiler"), Path::new("nothing"));
        assert!(missing.is_err_and(|reason| reason.starts_with("no-such-compiler: ")));
    }
}
