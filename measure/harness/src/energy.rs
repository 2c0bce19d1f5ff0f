//! The energy that the processors take, where the kernel tells it: the counters of RAPL in `/sys/class/powercap`.
//!
//! A counter is for a whole package, so it has whatever else the machine does. Since Linux 5.10 only the administrator may read it.

use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

/// The folder of the kernel.
const POWERCAP: &str = "/sys/class/powercap";

/// The counters of all packages.
#[derive(Debug)]
pub struct Meter {
    packages: Vec<Package>,
}

#[derive(Debug)]
struct Package {
    counter: PathBuf,
    /// Where the counter begins again, in microjoules.
    range: u64,
}

/// What the counters have shown, in microjoules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading(Vec<u64>);

impl Meter {
    /// The meter of this machine.
    ///
    /// # Errors
    /// Why there is none.
    pub fn of_this_machine() -> Result<Self, String> {
        Self::of(Path::new(POWERCAP))
    }

    fn of(folder: &Path) -> Result<Self, String> {
        let name = folder.display();
        let entries = read_dir(folder).map_err(|_| format!("the kernel has no {name}"))?;
        // A package is `intel-rapl:0`, on processors of AMD as well. Its parts are `intel-rapl:0:0`, and are in it.
        let is_package = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.strip_prefix("intel-rapl:").is_some_and(|rest| !rest.contains(':'))
        };
        let number = |path: PathBuf| read_to_string(path).ok()?.trim().parse().ok();
        let package = |path: PathBuf| {
            let counter = path.join("energy_uj");
            number(counter.clone())?;
            Some(Package { counter, range: number(path.join("max_energy_range_uj"))? })
        };
        let paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_package).collect();
        if paths.is_empty() {
            return Err(format!("{name} has no package with RAPL"));
        }
        let packages: Option<Vec<Package>> = paths.into_iter().map(package).collect();
        let packages = packages.ok_or_else(|| format!("the counters in {name} may not be read"))?;
        Ok(Self { packages })
    }

    /// What the counters show now. `None` if one of them cannot be read any more.
    pub fn read(&self) -> Option<Reading> {
        let read = |package: &Package| read_to_string(&package.counter).ok()?.trim().parse().ok();
        self.packages.iter().map(read).collect::<Option<_>>().map(Reading)
    }

    /// The energy between two readings, in joules. A counter may begin again once in between.
    pub fn joules(&self, before: &Reading, after: &Reading) -> f64 {
        let pairs = before.0.iter().zip(&after.0).zip(&self.packages);
        let used = pairs.map(|((&before, &after), package)| {
            if after >= before { after - before } else { after + package.range.saturating_sub(before) }
        });
        used.sum::<u64>() as f64 / 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(folder: &Path, name: &str, energy: u64) {
        let folder = folder.join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("energy_uj"), format!("{energy}\n")).unwrap();
        std::fs::write(folder.join("max_energy_range_uj"), "1000000\n").unwrap();
    }

    #[test]
    fn packages_count_once_and_counters_may_begin_again() {
        let folder = std::env::temp_dir().join(format!("powercap-{}", std::process::id()));
        package(&folder, "intel-rapl:0", 100);
        package(&folder, "intel-rapl:0:0", 100);
        package(&folder, "intel-rapl:1", 900_000);
        let meter = Meter::of(&folder).unwrap();
        let before = meter.read().unwrap();
        package(&folder, "intel-rapl:0", 500_100);
        package(&folder, "intel-rapl:0:0", 400_100);
        package(&folder, "intel-rapl:1", 400_000);
        let joules = meter.joules(&before, &meter.read().unwrap());
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(joules, 1.0);
        assert!(Meter::of(&folder).unwrap_err().starts_with("the kernel has no "));
    }
}
