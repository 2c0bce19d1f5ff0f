//! One program for two libraries. The suite replaces `SSP` by the name of the library.
//!
//! `idle SECONDS` prints the share of a core that a pipeline without items uses, and a 0.

use SSP::*;
use std::time::Duration;

fn replicas() -> i32 {
    std::thread::available_parallelism().map_or(2, usize::from) as i32
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
    let seconds = std::env::args().nth(2).and_then(|seconds| seconds.parse().ok());
    idle(seconds.expect("the words are idle SECONDS"));
}
