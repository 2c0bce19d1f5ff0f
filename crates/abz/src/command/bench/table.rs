//! The results as a table on standard output.

use super::measured::{Bench, Cost, Row};
use crate::command::messages::problem::Problem;
use crate::command::messages::stdout::print;

/// Prints the title and the column headings.
pub(super) fn begin(bench: &Bench) -> Result<(), Problem> {
    print(|out| {
        writeln!(out, "{}\n", title(bench))?;
        writeln!(
            out,
            "{:<6} {:>5} {:>7} {:>12} {:>14} {:>10} {:>14} {:>10}",
            "format", "level", "ratio", "compressed", "compression", "memory", "decompression", "memory"
        )
    })
}

/// Returns a line with the file, its size and the number of threads.
pub(super) fn title(bench: &Bench) -> String {
    let Bench { name, taken, workers, .. } = bench;
    let threads = if *workers == 1 { "1 thread".to_owned() } else { format!("{workers} threads") };
    match bench.len {
        Some(len) if len > *taken as u64 => {
            format!("{name}: the first {} of {}, {threads}", size(*taken as u64), size(len))
        }
        _ => format!("{name}: {}, {threads}", size(*taken as u64)),
    }
}

pub(super) fn row(row: &Row, len: usize) -> Result<(), Problem> {
    let Row { format, level, compressed, compress, decompress } = row;
    let [(speed_in, memory_in), (speed_out, memory_out)] =
        [compress, decompress].map(|cost| (speed(len, cost), memory(cost)));
    print(|out| {
        writeln!(
            out,
            "{format:<6} {:>5} {:>7.2} {:>12} {speed_in:>14} {memory_in:>10} {speed_out:>14} {memory_out:>10}",
            format!("-{level}"),
            ratio(len, *compressed),
            size(*compressed as u64),
        )
    })
}

pub(super) fn ratio(len: usize, compressed: usize) -> f64 {
    len as f64 / (compressed as f64).max(1.0)
}

/// Returns the speed in megabytes of uncompressed data per second.
pub(super) fn megabytes(len: usize, cost: &Cost) -> f64 {
    len as f64 / 1e6 / cost.seconds.max(1e-9)
}

pub(super) fn speed(len: usize, cost: &Cost) -> String {
    let speed = megabytes(len, cost);
    if speed < 10.0 { format!("{speed:.1} MB/s") } else { format!("{speed:.0} MB/s") }
}

pub(super) fn memory(cost: &Cost) -> String {
    cost.memory.map_or_else(|| "unknown".to_owned(), size)
}

fn size(bytes: u64) -> String {
    let bytes = bytes as f64;
    match bytes {
        _ if bytes < 1024.0 => format!("{bytes} B"),
        _ if bytes < 1024.0 * 1024.0 => format!("{:.1} KiB", bytes / 1024.0),
        _ if bytes < 1024.0 * 1024.0 * 1024.0 => format!("{:.1} MiB", bytes / 1024.0 / 1024.0),
        _ => format!("{:.1} GiB", bytes / 1024.0 / 1024.0 / 1024.0),
    }
}
