//! Runs the same pipeline with other libraries, one run for each line of its input.
//!
//! First it prints the rivals that it has, `NAME VERSION` on a line each, and then an empty line. Then it
//! answers each line `NAME SETTING ROUNDS UNEVEN ITEMS` with `SECONDS DIGEST`: the time of one run over this
//! many items, and the digest of its results.
#![forbid(unsafe_code)]

mod channels;
mod futures;
mod iterators;
#[allow(dead_code)] // the rest is for the process that asks
#[path = "../../../harness/src/work.rs"]
mod work;

use std::io::{self, Write};
use std::thread::available_parallelism;
use std::time::Instant;

use work::Work;

/// One run.
#[derive(Debug, Clone, Copy)]
struct Job {
    work: Work,
    items: u64,
    /// The setting of the rival: how many items may wait, or how many make a chunk.
    setting: usize,
    threads: usize,
}

/// Runs the pipeline and returns the digest of its results.
type Run = fn(Job) -> u64;

/// Name, package, and the run.
const RIVALS: [(&str, &str, Run); 11] = [
    ("crossbeam", "crossbeam-channel", channels::each),
    ("crossbeam-chunks", "crossbeam-channel", channels::chunks),
    ("orx", "orx-parallel", iterators::orx),
    ("pariter", "pariter", iterators::pariter),
    ("pariter-chunks", "pariter", iterators::pariter_chunks),
    ("par-bridge", "rayon", iterators::par_bridge),
    ("par-bridge-chunks", "rayon", iterators::par_bridge_chunks),
    ("par-stream", "par-stream", futures::par_stream),
    ("tokio", "tokio", futures::buffered),
    ("tokio-polled", "tokio", futures::polled),
    ("tokio-chunks", "tokio", futures::buffered_chunks),
];

fn main() -> io::Result<()> {
    for (name, package, _) in RIVALS {
        println!("{name} {}", locked_version(package));
    }
    println!();
    let threads = available_parallelism().map_or(1, usize::from);
    for line in io::stdin().lines() {
        let line = line?;
        let Some((run, job)) = parse(&line, threads) else {
            return Err(io::Error::other(format!("not understood: {line}")));
        };
        let start = Instant::now();
        let digest = run(job);
        println!("{} {digest}", start.elapsed().as_secs_f64());
        io::stdout().flush()?;
    }
    Ok(())
}

fn parse(line: &str, threads: usize) -> Option<(Run, Job)> {
    let mut words = line.split(' ');
    let name = words.next()?;
    let (_, _, run) = RIVALS.into_iter().find(|rival| rival.0 == name)?;
    let setting = words.next()?.parse().ok()?;
    let work = Work::calibrated(words.next()?.parse().ok()?, words.next()? == "1");
    let items = words.next()?.parse().ok()?;
    Some((run, Job { work, items, setting, threads }))
}

fn locked_version(package: &str) -> &'static str {
    let mut lines = include_str!("../../Cargo.lock").lines();
    let is_it = |line: &str| line.strip_prefix("name = ").map(|name| name.trim_matches('"')) == Some(package);
    lines.find(|line| is_it(line));
    lines
        .next()
        .and_then(|line| line.strip_prefix("version = "))
        .map_or("?", |version| version.trim_matches('"'))
}
