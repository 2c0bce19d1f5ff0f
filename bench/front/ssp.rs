//! One program for two libraries: `run.sh` puts the name of the library in the place of `SSP`.
//!
//! Prints the wall-clock nanoseconds an item, for each grain; or with `idle`, the processor time that a pipeline takes
//! in a second without items.

use SSP::*;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Work of about so many nanoseconds.
fn work(nanos: u64, n: u64) -> u64 {
    (0..nanos).fold(n, |hash, k| black_box(hash.rotate_left(5) ^ k))
}

fn grain(nanos: u64, items: u64, replicas: i32) -> f64 {
    let began = Instant::now();
    let pipeline = pipeline![parallel!(move |n: u64| Some(work(nanos, n)), replicas), collect_ordered!()];
    for n in 0..items {
        pipeline.post(n).unwrap();
    }
    assert_eq!(pipeline.collect().len() as u64, items);
    began.elapsed().as_nanos() as f64 / items as f64
}

/// Processor time of this process, in seconds.
fn busy() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("a Linux system");
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
}

fn main() {
    let replicas = std::thread::available_parallelism().map_or(2, usize::from) as i32;
    if std::env::args().nth(1).as_deref() == Some("idle") {
        let pipeline = pipeline![parallel!(|n: u64| Some(n), replicas), collect_ordered!()];
        pipeline.post(1).unwrap();
        std::thread::sleep(Duration::from_millis(200));
        let (before, seconds) = (busy(), 3);
        std::thread::sleep(Duration::from_secs(seconds));
        println!("{:.4}", (busy() - before) / seconds as f64);
        drop(pipeline.collect());
        return;
    }
    for (nanos, items) in [(0, 1_000_000), (100, 1_000_000), (1_000, 200_000), (10_000, 20_000)] {
        print!("{:.0} ", grain(nanos, items, replicas));
    }
    println!();
}
