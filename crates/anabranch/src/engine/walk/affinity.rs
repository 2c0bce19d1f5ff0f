//! Pins workers to processors, on systems that support it.

/// The processors that a run may use.
#[derive(Debug, Clone, Default)]
pub struct Processors(#[cfg_attr(not(all(target_os = "linux", not(portable))), allow(dead_code))] Vec<usize>);

impl Processors {
    /// How many there are. 0 if the system does not tell.
    pub fn count(&self) -> usize {
        self.0.len()
    }
}

#[cfg(all(target_os = "linux", not(portable)))]
impl Processors {
    /// The processors that the calling thread may use.
    pub fn of_this_thread() -> Self {
        use rustix::thread::{CpuSet, sched_getaffinity};

        let Ok(allowed) = sched_getaffinity(None) else { return Self::default() };
        Self((0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu)).collect())
    }

    /// Pins the calling thread to processor number `number`, modulo their count. If the system refuses, it returns `false`, and
    /// the thread stays unpinned: affinity only affects speed.
    pub fn pin(&self, number: usize) -> bool {
        use rustix::thread::{CpuSet, sched_setaffinity};

        let Self(cpus) = self;
        if cpus.is_empty() {
            return false;
        }
        let mut set = CpuSet::new();
        set.set(cpus[number % cpus.len()]);
        sched_setaffinity(None, &set).is_ok()
    }
}

#[cfg(not(all(target_os = "linux", not(portable))))]
impl Processors {
    /// An empty list: this system does not tell.
    pub fn of_this_thread() -> Self {
        Self::default()
    }

    /// Does nothing.
    pub fn pin(&self, _: usize) -> bool {
        false
    }
}
