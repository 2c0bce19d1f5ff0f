//! Builds `spar++`, the library and the programs in C++.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

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
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let target = program.ancestors().nth(2).ok_or("this program is in no folder of builds")?;
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut build = Command::new(cargo);
        build.args(["build", "--release", "--quiet", "-p", "sparxx", "-p", "capi", "--manifest-path"]);
        done(build.arg(root.join("Cargo.toml")).arg("--target-dir").arg(target))?;
        let folder = target.join("bench-cpp");
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let fastflow = std::env::var_os("FASTFLOW").map(PathBuf::from);
        Ok(Self { release: target.join("release"), folder, root, fastflow })
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
        let mut compile = Command::new(std::env::var_os("CXX").unwrap_or_else(|| "c++".into()));
        compile.args(["-std=c++17", "-O3", "-pthread"]).arg(&source).args(&words).arg("-o").arg(&out);
        done(&mut compile)?;
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
        let mut compile = Command::new(self.translator());
        compile.args(["-std=c++17", "-O3", "-spar_file"]).arg(source).args(words).arg("-o").arg(&out);
        done(&mut compile)?;
        Ok(out)
    }

    /// The ordered farms of `measure/promises/cpp`, which talk as the rivals do.
    ///
    /// # Errors
    /// Why they cannot be compiled.
    pub fn farms(&self) -> Result<PathBuf, String> {
        let mut words: Vec<OsString> = vec!["-DNDEBUG".into()];
        if let Some(fastflow) = &self.fastflow {
            words.extend(["-I".into(), fastflow.clone().into_os_string()]);
        }
        self.annotated(&self.root.join("measure/promises/cpp/farms.cpp"), "farms", &words)
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
        let compiler = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
        let said = Command::new(compiler)
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

/// Runs a program, and returns its last line on standard error if it fails.
fn done(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let said = command.output().map_err(|error| format!("{program}: {error}"))?;
    if said.status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&said.stderr);
    let problem = words.lines().find(|line| line.contains("error")).unwrap_or("no reason given");
    Err(format!("{program} failed: {}", problem.trim()))
}
