//! The machine and the versions with which the numbers were measured.

use std::fs::read_to_string;
use std::process::Command;
use std::thread::available_parallelism;

use serde::{Deserialize, Serialize};

/// What a number depends on besides the measured code.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The name of the processor.
    pub processor: String,
    /// Cores that this process may use.
    pub cores: usize,
    /// Whether the processor says that it is a virtual machine's.
    pub virtual_machine: bool,
    /// The operating system and its version.
    pub system: String,
    /// The version of the compiler.
    pub compiler: String,
    /// Names and versions.
    pub packages: Vec<(String, String)>,
    /// The commit that was measured, with `+` if the working tree had other changes. Empty if it is not
    /// known.
    pub commit: String,
}

impl Machine {
    /// Describes this machine, and the versions that `Cargo.lock` has of these packages.
    pub fn of_this_run(packages: &[&str]) -> Self {
        let processor = read_to_string("/proc/cpuinfo").unwrap_or_default();
        let field = |name: &str| {
            let line = processor.lines().find(|line| line.starts_with(name))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        };
        let kernel = read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let commit = git(&["rev-parse", "--short", "HEAD"]);
        // Changes to files that the measuring programs write themselves do not count.
        let own = [":/", ":(top,exclude)*.md"];
        let status = ["status", "--porcelain", "--untracked-files=no", "--"];
        let changed = !git(&[status.as_slice(), &own].concat()).is_empty();
        Self {
            processor: field("model name").unwrap_or_else(|| std::env::consts::ARCH.into()),
            cores: available_parallelism().map_or(1, usize::from),
            virtual_machine: field("flags").is_some_and(|flags| flags.contains("hypervisor")),
            system: format!("{} {}", std::env::consts::OS, kernel.trim()).trim().to_owned(),
            compiler: env!("COMPILER").to_owned(),
            packages: packages
                .iter()
                .map(|&name| (name.to_owned(), locked_version(include_str!("../../Cargo.lock"), name)))
                .collect(),
            commit: if changed && !commit.is_empty() { commit + "+" } else { commit },
        }
    }

    /// The description of the machine, in two lines of text.
    pub fn lines(&self) -> [String; 2] {
        let kind = if self.virtual_machine { ", a virtual machine" } else { "" };
        let cores = if self.cores == 1 { "core" } else { "cores" };
        let packages: Vec<String> =
            self.packages.iter().map(|(name, version)| format!("{name} {version}")).collect();
        let commit = if self.commit.is_empty() { String::new() } else { format!(" ({})", self.commit) };
        [
            format!("{}, {} {cores}{kind}, {}", self.processor, self.cores, self.system),
            format!("{}; {}{commit}", self.compiler, packages.join(", ")),
        ]
    }
}

/// The load average: how many threads wanted a core over the last minute. `None` if the system does not tell.
pub fn load() -> Option<f64> {
    read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}

fn git(arguments: &[&str]) -> String {
    let said = Command::new("git").arg("-C").arg(env!("CARGO_MANIFEST_DIR")).args(arguments).output();
    said.ok()
        .filter(|said| said.status.success())
        .map_or_else(String::new, |said| String::from_utf8_lossy(&said.stdout).trim().to_owned())
}

/// The version that the text of a `Cargo.lock` has of a package, or `?`.
pub fn locked_version(lock: &str, package: &str) -> String {
    // Of several versions, the last is the one that a newer package asks for.
    let (_, of_package) = lock.rsplit_once(&format!("name = \"{package}\"\n")).unwrap_or_default();
    let version = of_package.lines().next().and_then(|line| line.strip_prefix("version = \""));
    version.map_or("?", |rest| rest.trim_end_matches('"')).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_has_the_version_of_the_lock_file() {
        let lock = include_str!("../../Cargo.lock");
        assert_eq!(locked_version(lock, "anabranch"), env!("CARGO_PKG_VERSION"));
        assert_eq!(locked_version(lock, "no such package"), "?");
    }
}
