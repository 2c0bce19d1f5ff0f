//! The measured programs, which are built outside of this workspace.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::long;
use super::pipelines;
use measure_harness::builds::{self, put};
use measure_harness::rounds::Unmeasured;
use measure_harness::work::Digest;

/// The environment variable that names a checkout of Rust-SSP.
const CHECKOUT: &str = "RUST_SSP_DIR";

/// The profile with the release settings that a new package has.
pub const USUAL: &str = "usual";

/// The folder of the programs.
#[derive(Debug)]
pub struct Programs {
    folder: PathBuf,
    /// The checkout of Rust-SSP, if there is one.
    rust_ssp: Option<PathBuf>,
}

impl Programs {
    /// Writes the workspace of the programs and builds it.
    pub fn build() -> Result<Self, String> {
        let rust_ssp = env::var_os(CHECKOUT).map(PathBuf::from);
        let programs = Self { folder: builds::folder().join("front"), rust_ssp };
        programs.write().map_err(|error| format!("{}: {error}", programs.folder.display()))?;
        let built = programs.cargo(&["build", "--release", "--quiet"])?;
        if !built.status.success() {
            return Err(format!(
                "the programs of measure/promises/front: {}",
                String::from_utf8_lossy(&built.stderr)
            ));
        }
        Ok(programs)
    }

    fn write(&self) -> std::io::Result<()> {
        let promises = Path::new(env!("CARGO_MANIFEST_DIR"));
        let sources = self.folder.join("src/bin");
        fs::create_dir_all(&sources)?;
        let anabranch = promises.join("../../crates/anabranch");
        let mut manifest = format!(
            "[package]\nname = \"front\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n\
             [profile.release]\nlto = \"thin\"\ncodegen-units = 1\n\
             [profile.{USUAL}]\ninherits = \"release\"\nlto = false\ncodegen-units = 16\n\
             [dependencies]\nanabranch = {{ path = {anabranch:?} }}\nrayon = \"1\"\n"
        );
        let ssp = fs::read_to_string(promises.join("front/ssp.rs"))?;
        let of = |library: &str| ssp.replace("SSP::*", &format!("{library}::*"));
        put(&sources.join("ours.rs"), &of("anabranch::ssp"))?;
        match &self.rust_ssp {
            Some(checkout) => {
                manifest += &format!("rust-spp = {{ path = {checkout:?} }}\n");
                put(&sources.join("theirs.rs"), &of("rust_spp"))?;
            }
            None => drop(fs::remove_file(sources.join("theirs.rs"))),
        }
        put(&sources.join("loops.rs"), &fs::read_to_string(promises.join("front/loops.rs"))?)?;
        for (name, is_annotated) in long::SOURCES {
            put(&sources.join(name).with_extension("rs"), &long::source(is_annotated))?;
        }
        for (name, library, pipelines) in pipelines::SOURCES {
            put(&sources.join(name).with_extension("rs"), &pipelines::source(library, pipelines))?;
        }
        put(&self.folder.join("Cargo.toml"), &manifest)
    }

    /// Runs cargo in the workspace.
    pub fn cargo(&self, arguments: &[&str]) -> Result<std::process::Output, String> {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.args(arguments).current_dir(&self.folder);
        // Without incremental compilation, a program is compiled whole each time.
        command.env("CARGO_TARGET_DIR", self.folder.join("target")).env("CARGO_INCREMENTAL", "0");
        command.output().map_err(|error| format!("cargo: {error}"))
    }

    /// The source file of a program, to be compiled again.
    pub fn source(&self, name: &str) -> PathBuf {
        self.folder.join("src/bin").join(name).with_extension("rs")
    }

    /// The path of a program.
    pub fn program(&self, name: &str) -> OsString {
        self.folder.join("target/release").join(name).into()
    }

    /// Runs a program that prints a number and the digest of its results.
    pub fn run(&self, name: &str, arguments: &[String]) -> Result<(f64, Digest), Unmeasured> {
        let impossible = |why: String| Unmeasured::Impossible(format!("{name}: {why}"));
        let ran = Command::new(self.program(name)).args(arguments).output();
        let ran = ran.map_err(|error| impossible(error.to_string()))?;
        let said = String::from_utf8_lossy(&ran.stdout);
        let mut words = said.split_whitespace();
        let number = words.next().and_then(|word| word.parse().ok());
        let digest = words.next().and_then(|word| word.parse().ok());
        match (number, digest) {
            (Some(number), Some(digest)) => Ok((number, Digest::of_number(digest))),
            _ => Err(impossible(String::from_utf8_lossy(&ran.stderr).into_owned())),
        }
    }

    /// Whether Rust-SSP can be measured.
    pub fn rust_ssp(&self) -> Result<(), Unmeasured> {
        let why = format!("{CHECKOUT} names no checkout of github.com/GMAP/rust-ssp");
        self.rust_ssp.as_ref().map(drop).ok_or(Unmeasured::NotInstalled(why))
    }

    /// The versions of what was measured next to Anabranch.
    pub fn versions(&self) -> String {
        let Some(checkout) = &self.rust_ssp else { return "Rust-SSP is not there".into() };
        let head =
            Command::new("git").arg("-C").arg(checkout).args(["rev-parse", "--short", "HEAD"]).output();
        let commit = head.map(|head| String::from_utf8_lossy(&head.stdout).trim().to_owned());
        format!("Rust-SSP {}", commit.unwrap_or_default())
    }
}
