//! Pinning workers to processors, where the system can.

/// Pins the calling thread to the `number`th of the processors that it may use, modulo their count. Where that
/// is not possible the thread stays where it is: affinity is advice.
#[cfg(target_os = "linux")]
pub(crate) fn pin(number: usize) {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    let Ok(allowed) = sched_getaffinity(None) else { return };
    let cpus: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu)).collect();
    if cpus.is_empty() {
        return;
    }
    let mut one = CpuSet::new();
    one.set(cpus[number % cpus.len()]);
    let _ = sched_setaffinity(None, &one);
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn pin(_: usize) {}
