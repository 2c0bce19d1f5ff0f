//! The machine and the versions with which the numbers were measured.

use std::fs::read_to_string;
use std::process::Command;
use std::thread::available_parallelism;

use serde::Serialize;

/// The packages whose versions are shown, as `Cargo.lock` names them.
const PACKAGES: [&str; 2] = ["anabranch", "rtrb"];

#[derive(Debug, Serialize)]
pub struct Machine {
    pub processor: String,
    /// Cores that this process may use.
    pub cores: usize,
    pub virtual_machine: bool,
    pub system: String,
    pub compiler: &'static str,
    /// Names and versions.
    pub packages: Vec<(&'static str, String)>,
    /// The commit that was measured, with `+` if the working tree had other changes. Empty if it is not
    /// known.
    pub commit: String,
}

impl Machine {
    pub fn of_this_run() -> Self {
        let processor = read_to_string("/proc/cpuinfo").unwrap_or_default();
        let field = |name: &str| {
            let line = processor.lines().find(|line| line.starts_with(name))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        };
        let kernel = read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let commit = git(&["rev-parse", "--short", "HEAD"]);
        // Changes to files that this program writes itself do not count.
        let own = [":/", ":(top,exclude)*.md", ":(top,exclude)bench/*.json"];
        let status = ["status", "--porcelain", "--untracked-files=no", "--"];
        let changed = !git(&[status.as_slice(), &own].concat()).is_empty();
        Self {
            processor: field("model name").unwrap_or_else(|| std::env::consts::ARCH.into()),
            cores: available_parallelism().map_or(1, usize::from),
            virtual_machine: field("flags").is_some_and(|flags| flags.contains("hypervisor")),
            system: format!("{} {}", std::env::consts::OS, kernel.trim()).trim().to_owned(),
            compiler: env!("COMPILER"),
            packages: PACKAGES.iter().map(|&name| (name, locked_version(name))).collect(),
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

fn locked_version(package: &str) -> String {
    let lock = include_str!("../../Cargo.lock");
    let mut lines = lock.lines().skip_while(|line| *line != format!("name = \"{package}\""));
    let version = lines.nth(1).and_then(|line| line.strip_prefix("version = \""));
    version.map_or("?", |rest| rest.trim_end_matches('"')).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_has_a_version() {
        for package in PACKAGES {
            assert_ne!(locked_version(package), "?", "{package}");
        }
    }
}
