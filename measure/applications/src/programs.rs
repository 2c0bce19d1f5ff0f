//! The programs that have the variants, and how they are built. Nothing of them is built before it is needed.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use measure_harness::builds::{self, compiled, compiler, compiles};
use measure_programs::Scale;

use crate::checkouts::{Checkouts, source};
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
        let rivals = wants(&|variant| home(variant) == Home::Rivals).map(|()| {
            eprintln!("building the rivals");
            Ok::<_, String>(
                builds::rival(&builds::source("rivals"), "application-rivals")?.join("application-rivals"),
            )
        });
        let original = wants(&|variant| home(variant) == Home::Original).map(|()| original::build(checkouts));
        let in_cpp = |variant: &str| home(variant) == Home::Cpp && side(variant) == Side::Anabranch;
        let library = wants(&in_cpp).map(|()| {
            eprintln!("building Anabranch's library for C++");
            builds::anabranch(&["capi", "sparxx"])
        });
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

/// Builds a program in C++. `library` is the folder of Anabranch's library for C++ and of `spar++`.
fn cpp(variant: &str, library: &Path, checkouts: &Checkouts) -> Result<PathBuf, String> {
    let folder = builds::folder().join("suite-cpp");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let of = |option: &str, path: &Path| OsString::from(format!("{option}{}", path.display()));
    // The sources of a library that no package has: the option for the compiler, if they are there.
    let checkout = |checkout: &Option<PathBuf>, option, header: &str, owner: &str| {
        let option = checkout.as_ref().map(|folder| of(option, folder));
        let found = option.filter(|option| compiles(&[option], &format!("#include <{header}>")));
        let (name, variable) = (format!("github.com/{owner}/{owner}"), owner.to_uppercase());
        let how = format!("--{owner} DIR, or {variable}=DIR before `cpp` and `rivals`");
        found.ok_or_else(|| format!("no checkout of {name} is named: {how}"))
    };
    let words = |all: &[&str]| all.iter().map(OsString::from).collect::<Vec<_>>();
    let fastflow = || checkout(&checkouts.fastflow, "-isystem", "ff/ff.hpp", "fastflow");
    let taskflow = || checkout(&checkouts.taskflow, "-I", "taskflow/taskflow.hpp", "taskflow");
    let mut compiler = compiler();
    let (file, options, libraries) = match variant {
        "cpp-sequential" => ("sequential.cpp", vec![], vec![]),
        "cpp-builder" => {
            let archive = library.join("libanabranch_c.a").into_os_string();
            let include = of("-I", &source("../../crates/capi/include"));
            ("builder.cpp", vec![include], [vec![archive], words(&["-ldl", "-lm"])].concat())
        }
        "cpp-annotated" => {
            compiler = library.join("sparxx").into_os_string();
            ("annotated.cpp", words(&["-spar_file"]), vec![])
        }
        "tbb" if !compiles(&[], "#include <tbb/parallel_pipeline.h>") => {
            return Err("oneTBB is not installed (Debian: libtbb-dev)".into());
        }
        "tbb" => ("tbb.cpp", vec![], words(&["-ltbb"])),
        "taskflow" => ("taskflow.cpp", vec![taskflow()?], vec![]),
        "openmp" if !compiles(&["-fopenmp".as_ref()], "#include <omp.h>") => {
            return Err(
                "the C++ compiler has no OpenMP (Debian: libgomp1 for g++, libomp-dev for clang++)".into()
            );
        }
        "openmp" => ("openmp.cpp", words(&["-fopenmp"]), vec![]),
        "fastflow" => ("fastflow.cpp", [vec![fastflow()?], words(&["-DBLOCKING"])].concat(), vec![]),
        "fastflow-spinning" => ("fastflow.cpp", vec![fastflow()?], vec![]),
        _ => return Err(format!("there is no variant {variant} in C++")),
    };
    let program = folder.join(variant);
    let common = words(&["-std=c++20", "-O3", "-DNDEBUG", "-ffp-contract=off", "-pthread"]);
    // `-spar_file` stands before the file.
    let options: Vec<&OsStr> = common.iter().chain(&options).map(OsString::as_os_str).collect();
    let libraries: Vec<&OsStr> = libraries.iter().map(OsString::as_os_str).collect();
    compiled(&compiler, &options, &source("cpp").join(file), &libraries, &program)?;
    Ok(program)
}
