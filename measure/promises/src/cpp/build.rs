//! Builds `spar++`, the library and the programs in C++.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use measure_harness::builds;

/// The translator and the library, and the folder for programs.
#[derive(Debug)]
pub struct Built {
    release: PathBuf,
    folder: PathBuf,
    root: PathBuf,
    /// A checkout of FastFlow.
    fastflow: Option<PathBuf>,
}

impl Built {
    /// Builds the translator and the library.
    ///
    /// # Errors
    /// Why they cannot be built.
    pub fn new() -> Result<Self, String> {
        let release = builds::anabranch(&["sparxx", "capi"])?;
        let folder = builds::folder().join("bench-cpp");
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let fastflow = std::env::var_os("FASTFLOW").map(PathBuf::from);
        Ok(Self { release, folder, root: builds::source(".."), fastflow })
    }

    /// Compiles a program of `examples/cpp` in one of its forms.
    ///
    /// # Errors
    /// Why it cannot be compiled.
    pub fn example(&self, program: &str, form: &str, libraries: &[&str]) -> Result<PathBuf, String> {
        let source = self.source(program, form);
        let mut words: Vec<OsString> = libraries.iter().map(OsString::from).collect();
        match form {
            "annotated" => return self.annotated(&source, &format!("{program}_{form}"), &words),
            "builder" => {
                words.extend(["-I".into(), self.root.join("crates/capi/include").into_os_string()]);
                words.push(self.release.join("libanabranch_c.a").into_os_string());
                words.extend(["-Wl,--gc-sections", "-ldl", "-lm"].map(OsString::from));
            }
            "tbb" => words.push("-ltbb".into()),
            "fastflow" => words.extend(["-I".into(), self.fastflow()?.clone().into_os_string()]),
            _ => {}
        }
        let out = self.folder.join(format!("{program}_{form}"));
        let words: Vec<&OsStr> = words.iter().map(OsString::as_os_str).collect();
        let options = ["-std=c++17", "-O3", "-pthread"].map(OsStr::new);
        builds::compiled(&builds::compiler(), &options, &source, &words, &out)?;
        Ok(out)
    }

    /// The source of a program of `examples/cpp` in one of its forms.
    pub fn source(&self, program: &str, form: &str) -> PathBuf {
        self.root.join(format!("examples/cpp/{program}_{form}.cpp"))
    }

    /// Translates and compiles an annotated program. `words` are for the compiler.
    ///
    /// # Errors
    /// Why it cannot be compiled.
    pub fn annotated(&self, source: &Path, name: &str, words: &[OsString]) -> Result<PathBuf, String> {
        let out = self.folder.join(name);
        let words: Vec<&OsStr> = words.iter().map(OsString::as_os_str).collect();
        let options = ["-std=c++17", "-O3", "-spar_file"].map(OsStr::new);
        builds::compiled(self.translator().as_os_str(), &options, source, &words, &out)?;
        Ok(out)
    }

    /// The translator itself.
    pub fn translator(&self) -> PathBuf {
        self.release.join("sparxx")
    }

    /// The folder for programs and their files.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The first line of the compiler about itself.
    pub fn compiler(&self) -> String {
        let said = Command::new(builds::compiler())
            .arg("--version")
            .output()
            .unwrap_or_else(|_| unreachable!("it has compiled"));
        let text = String::from_utf8_lossy(&said.stdout).into_owned();
        format!("{}, -O3", text.lines().next().unwrap_or("unknown compiler"))
    }

    fn fastflow(&self) -> Result<&PathBuf, String> {
        self.fastflow
            .as_ref()
            .ok_or_else(|| "set FASTFLOW to a checkout of github.com/fastflow/fastflow".into())
    }
}
