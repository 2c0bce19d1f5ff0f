//! Settings of any size take memory as it is used, and not as it might be.
//!
//! A program of its own, because it looks at the peak of the memory of the whole process.

use std::collections::HashSet;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use anabranch::{Monitor, Shards, Stream, Workers};

/// The most memory that this process has had, in MiB, where the system tells.
fn peak_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()? / 1024)
}

#[test]
fn settings_of_any_size_take_memory_as_it_is_used() {
    let before = peak_mib();
    for window in [100_000_000, 1 << 40, usize::MAX] {
        for workers in [1, 3] {
            let stream = || Stream::from_iter((0..1_000u64).filter(|_| true)).workers(workers).window(window);
            let expected: Vec<u64> = (1..=1_000).collect();
            assert_eq!(stream().map(|n| n + 1).collect::<Vec<_>>(), expected);
            assert_eq!(stream().map(|n| n).map(|n| n + 1).collect::<Vec<_>>(), expected);
            assert_eq!(stream().serial_flat_map(|n| [n + 1]).collect::<Vec<_>>(), expected);
            let sharded = stream().map_sharded(Shards::dealt(3), || (), |(), n| n + 1);
            assert_eq!(sharded.collect::<Vec<_>>(), expected);
            let mut unordered: Vec<u64> = stream().unordered().map(|n| n + 1).serial_map(|n| n).collect();
            unordered.sort_unstable();
            assert_eq!(unordered, expected);
            assert_eq!(stream().map(|n| n + 1).into_iter().collect::<Vec<_>>(), expected);
        }
    }
    for burst in [usize::MAX, usize::MAX / 2 + 1, 1 << 40] {
        let stream = Stream::from_iter(0..1_000u64).workers(3).burst(burst).window(usize::MAX);
        assert_eq!(stream.map(|n| n + 1).sum::<u64>(), 500_500);
    }
    let (sender, stream) = Stream::channel(usize::MAX);
    (0..1_000u64).for_each(|n| sender.send(n).unwrap());
    drop(sender);
    assert_eq!(stream.sum::<u64>(), 499_500);

    // Workers come and go: what is kept of them does not grow with their number.
    let (workers, monitor, threads) = (Workers::new(1), Monitor::new(), Mutex::new(HashSet::new()));
    let steps = 1_500;
    Stream::from_iter(0..steps)
        .workers(&workers)
        .watch(&monitor)
        .map(|n: u64| {
            threads.lock().unwrap().insert(thread::current().id());
            thread::sleep(Duration::from_micros(100));
            n
        })
        .for_each(|n| workers.set(1 + n as usize % 4));
    let came = threads.into_inner().unwrap().len();
    assert!(came > 1, "{came} threads");

    if let (Some(before), Some(after)) = (before, peak_mib()) {
        assert!(after < before + 120, "{before} MiB before, {after} MiB after, {came} threads");
    }
}
