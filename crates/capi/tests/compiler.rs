//! The compilers of C and C++: those that `CC` and `CXX` name, or `cc` and `c++`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anabranch_c::install::Installation;

/// ThreadSanitizer does not see the work of the library. It must only check the code of the program.
pub const TSAN_OPTIONS: &str = "ignore_noninstrumented_modules=1";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    C11,
    Cpp17,
}

#[derive(Debug, Clone, Copy)]
pub enum Sanitizer {
    Address,
    Thread,
}

impl Language {
    /// Returns the compiler of the environment or of the system. If there is none, records that its tests are skipped.
    pub fn compiler(self) -> Option<Command> {
        let (variable, usual) = match self {
            Self::C11 => ("CC", "cc"),
            Self::Cpp17 => ("CXX", "c++"),
        };
        let Ok(words) = std::env::var(variable) else { return self.named(usual) };
        let mut words = words.split_whitespace();
        let mut command = Command::new(words.next().unwrap_or(usual));
        command.args(words);
        Some(command)
    }

    /// Returns Clang. If it is not installed, records that its tests are skipped.
    pub fn clang(self) -> Option<Command> {
        self.named(match self {
            Self::C11 => "clang",
            Self::Cpp17 => "clang++",
        })
    }

    fn named(self, program: &str) -> Option<Command> {
        abz_foreign::have(program).then(|| Command::new(program))
    }
}

/// The folder of this package.
pub fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder with the libraries, which were built for this test.
pub fn libraries() -> PathBuf {
    let test = std::env::current_exe().expect("the path of the test");
    let deps = test.parent().expect("a test has a folder");
    let folders = [deps, deps.parent().expect("`deps` is in a folder")];
    let found = folders.into_iter().find(|folder| folder.join("libanabranch_c.a").is_file());
    found.expect("the static library is beside the test").to_owned()
}

/// Compiles a program of `tests` with a compiler. Returns `false` if the compiler lacks the sanitizer.
pub fn compile(
    mut command: Command,
    language: Language,
    source: &str,
    sanitizer: Option<Sanitizer>,
    program: &Path,
) -> bool {
    let libraries = libraries();
    match language {
        Language::C11 => command.arg("-std=c11"),
        Language::Cpp17 => command.args(["-std=c++17", "-x", "c++"]),
    };
    match sanitizer {
        Some(Sanitizer::Address) => command.arg("-fsanitize=address"),
        Some(Sanitizer::Thread) => command.arg("-fsanitize=thread"),
        None => &mut command,
    };
    // The compiler's words about a missing sanitizer are searched in English.
    command.env("LC_ALL", "C");
    command.args(["-O0", "-g1", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]);
    command.arg("-I").arg(here().join("include")).arg("-I").arg(here().join("tests/cpp"));
    command.arg(here().join("tests").join(source)).args(["-x", "none", "-o"]).arg(program);
    // ThreadSanitizer can ignore the calls of the library only if the library is a module of its own.
    match sanitizer {
        Some(Sanitizer::Thread) => {
            let prefix = program.with_extension("installed");
            let installation = Installation { built: libraries.clone(), prefix: prefix.clone() };
            installation.install().expect("the library is installed");
            let libraries = prefix.join("lib");
            command.arg("-L").arg(&libraries).arg("-lanabranch");
            command.arg(format!("-Wl,-rpath,{}", libraries.display()))
        }
        _ => command.arg(libraries.join("libanabranch_c.a")).args(["-Wl,--gc-sections", "-ldl", "-lm"]),
    };
    let output = command.arg("-pthread").output().expect("the compiler runs");
    let said = String::from_utf8_lossy(&output.stderr);
    if let (Some(sanitizer), false) = (sanitizer, output.status.success()) {
        let library = ["cannot find -l", "cannot find lib", "unsupported option", "unrecognized argument"];
        if library.iter().any(|words| said.contains(words)) {
            abz_foreign::leave_out(&format!(
                "the C++ interface under {sanitizer:?}Sanitizer (apt-get install libasan8 libtsan2)"
            ));
            return false;
        }
    }
    assert!(output.status.success(), "{command:?} failed:\n{said}");
    true
}

/// Runs a program, which must succeed.
#[track_caller]
pub fn run(command: &mut Command) -> Output {
    let output = command.output().expect("the program runs");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{out}{err}", output.status);
    output
}
