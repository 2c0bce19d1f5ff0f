//! Task systems and channels that run the synthetic benchmark with one producer and one consumer, or whole programs.
//!
//! They are separate programs, in `signals/rivals`: in Rust and in C++. They are built when they are measured, and run in
//! their own processes.

mod table;

use std::cell::RefCell;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use measure_harness::builds;
use measure_harness::rival::Rival as Asked;

use super::Part;

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
type Process = std::result::Result<RefCell<Asked>, String>;

impl Rivals {
    /// Returns no rivals, for this reason.
    pub fn absent(reason: &str) -> Self {
        let absent = || Err(reason.to_owned());
        Self { rust: absent(), cpp: absent(), stages: absent() }
    }

    /// Builds the rivals of these parts next to this program, unless they were built before, and starts their
    /// processes. Rivals that cannot be built here are absent, with the reason.
    pub fn build(parts: &[Part]) -> Self {
        let mut rivals = Self::absent("not asked for");
        let needs = |part| parts.contains(&part);
        if needs(Part::Rivals) || needs(Part::Frames) {
            rivals.rust = Asked::of_package(&source(""), "signal-rivals").map(RefCell::new);
        }
        if needs(Part::Rivals) {
            let program = builds::folder().join("signal-rivals-cpp");
            rivals.cpp = synthetic(&program, &["-O3"]).and_then(|()| started(&program));
        }
        if needs(Part::Depend) {
            rivals.stages = by_stages().and_then(|program| started(&program));
        }
        rivals
    }

    /// Returns the process that runs programs by stages, or the reason why it is absent.
    pub(super) fn stages(&self) -> std::result::Result<&RefCell<Asked>, String> {
        self.stages.as_ref().map_err(String::clone)
    }

    /// Returns the process that runs programs by frame, or the reason why it is absent.
    pub(super) fn by_frame(&self) -> std::result::Result<&RefCell<Asked>, String> {
        self.rust.as_ref().map_err(String::clone)
    }

    /// Returns the process that runs a rival, or the reason why it is absent.
    fn of(&self, rival: &Rival) -> std::result::Result<&RefCell<Asked>, String> {
        let peer = if rival.is_cpp { &self.cpp } else { &self.rust };
        let peer = peer.as_ref().map_err(String::clone)?;
        let has = peer.borrow().versions.contains_key(rival.name);
        if has { Ok(peer) } else { Err(format!("needs {}", rival.needs)) }
    }
}

/// Compiles the synthetic benchmark with OpenMP tasks and with oneTBB, if the compiler has them.
///
/// # Errors
/// Why it cannot be compiled.
pub fn synthetic(program: &Path, options: &[&str]) -> std::result::Result<(), String> {
    let mut options = options.to_vec();
    options.extend(["-std=c++20", "-DNDEBUG", "-pthread"]);
    if builds::compiles(&["-fopenmp".as_ref()], "#include <omp.h>") {
        options.push("-fopenmp");
    }
    let has_tbb = builds::compiles(&[], "#include <tbb/parallel_pipeline.h>");
    let libraries: &[&OsStr] = if has_tbb { &["-ltbb".as_ref()] } else { &[] };
    let options: Vec<&OsStr> = options.into_iter().map(OsStr::new).collect();
    builds::compiled(&builds::compiler(), &options, &source("cpp/rivals.cpp"), libraries, program)
}

/// Builds the programs by stages.
fn by_stages() -> std::result::Result<PathBuf, String> {
    if !builds::compiles(&["-fopenmp".as_ref()], "#include <omp.h>") {
        return Err("the C++ compiler has no OpenMP".into());
    }
    let stages = builds::rival(&source(""), "signal-stages")?.join("libsignal_stages.a");
    let options = ["-std=c++20", "-O3", "-DNDEBUG", "-pthread", "-fopenmp"].map(OsStr::new);
    let libraries = [stages.as_os_str(), "-ldl".as_ref(), "-lm".as_ref()];
    let program = builds::folder().join("signal-rivals-stages");
    builds::compiled(&builds::compiler(), &options, &source("cpp/stages.cpp"), &libraries, &program)?;
    Ok(program)
}

/// Starts a program.
fn started(program: &Path) -> Process {
    Asked::start(Command::new(program)).map(RefCell::new)
}

/// Returns the path of a file of the rivals, or of their folder.
fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../rivals").join(name)
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
        assert!(started(Path::new("./no-such-program")).is_err());
    }
}
