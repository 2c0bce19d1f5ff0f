//! What a process has used, if the system tells it.

use std::fs;

/// The processor time of this process, in seconds.
#[cfg(unix)]
pub fn processor_seconds() -> Option<f64> {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Some(time.tv_sec as f64 + time.tv_nsec as f64 / 1e9)
}

/// The processor time of this process, in seconds.
#[cfg(not(unix))]
pub fn processor_seconds() -> Option<f64> {
    None
}

/// The memory that this process has now, in bytes.
pub fn memory() -> Option<u64> {
    field("VmRSS:")
}

/// The most memory that this process has had since [`forget_peak`], in bytes.
pub fn peak() -> Option<u64> {
    field("VmHWM:")
}

/// Lets the peak begin anew, with the memory of now. See `proc_pid_clear_refs(5)`.
pub fn forget_peak() {
    // Where this is not possible, the peak has the generation of the data in it.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

fn field(name: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}
