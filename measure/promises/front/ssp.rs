//! One program for two libraries. The suite replaces `SSP` by the name of the library.
//!
//! `ROUNDS ITEMS` prints the nanoseconds an item, with this many rounds of work, and the digest of the
//! results. `idle SECONDS` prints the share of a core that a pipeline without items uses.

use SSP::*;
use std::time::{Duration, Instant};
use work::{Digest, Work};

fn replicas() -> i32 {
    std::thread::available_parallelism().map_or(2, usize::from) as i32
}

fn pipeline_of(work: Work, items: u64) {
    let began = Instant::now();
    let pipeline = pipeline![parallel!(move |n: u64| Some(work.run(n)), replicas()), collect_ordered!()];
    for n in 0..items {
        pipeline.post(n).unwrap();
    }
    let collected: Vec<u64> = pipeline.collect();
    let nanos = began.elapsed().as_nanos() as f64 / items as f64;
    println!("{nanos} {}", collected.into_iter().fold(Digest::EMPTY, Digest::with).number());
}

/// Processor time of this process, in seconds.
fn busy() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("a Linux system");
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
}

fn idle(seconds: u64) {
    let pipeline = pipeline![parallel!(|n: u64| Some(n), replicas()), collect_ordered!()];
    pipeline.post(1).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    let before = busy();
    std::thread::sleep(Duration::from_secs(seconds));
    println!("{} 0", 100.0 * (busy() - before) / seconds as f64);
    drop(pipeline.collect());
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments[at].parse().expect("a number");
    match &*arguments[0] {
        "idle" => idle(number(1)),
        rounds => pipeline_of(Work::calibrated(rounds.parse().expect("a number"), false), number(1)),
    }
}
