//! The programs that have the variants, and how they are built. Nothing of them is built before it is needed.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use measure_programs::Scale;

use crate::checkouts::{Checkouts, builds, cargo, source};
use crate::data::Chosen;
use crate::original;
use crate::process::Process;
use crate::systems::{Home, SEQUENTIAL, Side, home, side};

/// The programs of the variants. A variant that cannot be built has the reason.
#[derive(Debug)]
pub struct Programs {
    data: Chosen,
    of: BTreeMap<&'static str, Result<PathBuf, String>>,
}

impl Programs {
    /// Builds what the variants need. Their processes will have these data.
    ///
    /// # Errors
    /// If the system does not tell where this program is.
    pub fn ready(variants: &[&'static str], checkouts: &Checkouts, data: &Chosen) -> Result<Self, String> {
        let own = std::env::current_exe()
            .map_err(|error| format!("the system does not tell where this program is: {error}"))?;
        let wants =
            |wanted: &dyn Fn(&str) -> bool| variants.iter().any(|variant| wanted(variant)).then_some(());
        let rivals = wants(&|variant| home(variant) == Home::Rivals).map(|()| rivals());
        let original = wants(&|variant| home(variant) == Home::Original).map(|()| original::build(checkouts));
        let in_cpp = |variant: &str| home(variant) == Home::Cpp && side(variant) == Side::Anabranch;
        let library = wants(&in_cpp).map(|()| library());
        let not_asked = || Err("not asked for".to_owned());
        let of = |variant: &'static str| match home(variant) {
            Home::Own => Ok(own.clone()),
            Home::Rivals => rivals.clone().unwrap_or_else(not_asked),
            Home::Original => original.clone().unwrap_or_else(not_asked),
            Home::Cpp => {
                let library = library.clone().unwrap_or_else(|| Ok(PathBuf::new()));
                library.and_then(|library| cpp(variant, &library, checkouts))
            }
        };
        Ok(Self { data: data.clone(), of: variants.iter().map(|&variant| (variant, of(variant))).collect() })
    }

    /// The variants that could not be built, and why.
    pub fn absent(&self) -> Vec<(String, String)> {
        let reason = |(&variant, built): (&&str, &Result<PathBuf, String>)| {
            Some((variant.to_owned(), built.as_ref().err()?.clone()))
        };
        self.of.iter().filter_map(reason).collect()
    }

    /// Whether a variant is there.
    pub fn has(&self, variant: &str) -> bool {
        self.of.get(variant).is_some_and(Result::is_ok)
    }

    /// The program of a variant, without arguments.
    ///
    /// # Errors
    /// Why there is none.
    pub fn command(&self, variant: &str) -> Result<Command, String> {
        let built = self.of.get(variant).ok_or("not asked for")?;
        Ok(Command::new(built.as_ref().map_err(Clone::clone)?))
    }

    /// Starts a process for a variant, and waits until its data are there.
    ///
    /// # Errors
    /// Why it cannot run.
    pub fn start(
        &self,
        application: &str,
        workload: &str,
        scale: Scale,
        variant: &str,
        workers: usize,
    ) -> Result<Process, String> {
        // The programs of the experiments are in this program, as the sequential ones are.
        let is_own = home(variant) == Home::Own;
        let mut command = self.command(if is_own { SEQUENTIAL } else { variant })?;
        if is_own {
            command.arg("serve");
        }
        command.args([application, workload, scale.name(), variant, &workers.to_string()]);
        self.data.tell(&mut command);
        Process::start(command)
    }
}

/// Builds `rivals/`, which is a workspace of its own.
fn rivals() -> Result<PathBuf, String> {
    let folder = builds().join("rivals");
    let manifest = source("../rivals/applications/Cargo.toml");
    cargo("the rivals", &["--locked".as_ref(), "--manifest-path".as_ref(), manifest.as_ref()], &folder)?;
    Ok(folder.join("release/application-rivals"))
}

/// Builds Anabranch's library for C++ and `spar++`. Returns their folder.
fn library() -> Result<PathBuf, String> {
    let manifest = source("../../Cargo.toml");
    let packages = ["-p", "capi", "-p", "sparxx", "--manifest-path"].map(OsStr::new);
    let arguments = [&packages[..], &[manifest.as_ref()]].concat();
    cargo("Anabranch's library for C++", &arguments, &builds())?;
    Ok(builds().join("release"))
}

/// Builds a program in C++.
fn cpp(variant: &str, library: &Path, checkouts: &Checkouts) -> Result<PathBuf, String> {
    let folder = builds().join("suite-cpp");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let program = folder.join(variant);
    let script = source("cpp/build.sh");
    let mut build = Command::new("sh");
    build.arg(&script).arg(variant).arg(&program).env("ANABRANCH", library);
    for (name, checkout) in [("FASTFLOW", &checkouts.fastflow), ("TASKFLOW", &checkouts.taskflow)] {
        match checkout {
            Some(checkout) => build.env(name, checkout),
            None => build.env_remove(name),
        };
    }
    let said = build.output().map_err(|error| format!("sh did not start: {error}"))?;
    if said.status.success() {
        return Ok(program);
    }
    let words = String::from_utf8_lossy(&said.stderr);
    let is_absent = said.status.code() == Some(2);
    let of_compiler = |line: &&str| line.contains("error");
    let reason = if is_absent { words.lines().last() } else { words.lines().find(of_compiler) };
    let reason = reason.unwrap_or("no reason given").trim();
    Err(if is_absent { reason.to_owned() } else { format!("not built ({reason})") })
}
