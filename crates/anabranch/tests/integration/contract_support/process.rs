//! The process from outside: its processor time and its threads. It works on Linux only.

use std::collections::HashMap;
use std::fs;
use std::time::Duration;

/// The processor time of this process so far.
pub fn processor_time() -> Option<Duration> {
    // Fields 14 and 15 of the line are user and system time in ticks, 100 a second on every Linux that has
    // /proc. The name in field 2 may contain anything, so the fields are counted from the parenthesis that
    // closes it.
    let line = fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = line.rsplit_once(')')?.1.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(Duration::from_millis(10 * (user + system)))
}

/// How long each thread of this process has waited for a processor so far, while it could run. By the threads' numbers.
pub fn waits_for_processors() -> HashMap<u64, Duration> {
    // The second number is the time in nanoseconds (the kernel's Documentation/scheduler/sched-stats.rst).
    let wait = |task: fs::DirEntry| {
        let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
        let nanos = text.split_whitespace().nth(1)?.parse().ok()?;
        Some((task.file_name().to_str()?.parse().ok()?, Duration::from_nanos(nanos)))
    };
    fs::read_dir("/proc/self/task")
        .map_or_else(|_| HashMap::new(), |tasks| tasks.flatten().filter_map(wait).collect())
}

/// How many threads of this process have a name with this prefix. The system keeps 15 characters of a name.
pub fn threads_named(prefix: &str) -> usize {
    let Ok(tasks) = fs::read_dir("/proc/self/task") else { return 0 };
    tasks
        .flatten()
        .filter_map(|task| fs::read_to_string(task.path().join("comm")).ok())
        .filter(|name| name.starts_with(prefix))
        .count()
}
