//! How many items pass in a time.

use std::time::Instant;

use anabranch::Stream;
use anabranch_cluster::prelude::*;
use bytes::Bytes;

use super::processes::{Process, Server};
use super::{DEFLATE, LARGE, SKEWED, SMALL, Wait, connect, deflate as deflated, function, rounds};
use measure_harness::rounds::{Rounds, Unmeasured};
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};

/// A server with its workers.
struct Fleet {
    // The workers go first.
    _workers: Vec<Process>,
    server: Server,
}

impl Fleet {
    /// Starts workers with these slownesses.
    fn start(slownesses: &[u32]) -> Result<Self, Unmeasured> {
        let server = Server::start()?;
        let workers = slownesses.iter().map(|&slowness| server.worker(slowness)).collect();
        Ok(Self { _workers: workers, server })
    }
}

/// The time in which items of `size` bytes go there and back, in seconds an item.
fn echo(size: usize, items: usize, window: usize, wanted: usize) -> Result<Rounds, Unmeasured> {
    let fleet = Fleet::start(&[1, 1])?;
    let cluster = connect(&fleet.server.url)?;
    let echo = function::<Bytes, Bytes>(&cluster, "echo")?;
    let body = Bytes::from(vec![7; size]);
    let sample = || {
        let begin = Instant::now();
        let bodies = (0..items).map(|_| body.clone());
        let count = Stream::from_iter(bodies).window(window).map_remote(&echo).count();
        assert_eq!(count, Ok(items));
        begin.elapsed().as_secs_f64() / items as f64
    };
    rounds(wanted, vec![("echo", Box::new(sample))])
}

pub fn small(quick: bool) -> Row {
    let (items, wanted) = if quick { (5_000, 5) } else { (30_000, 9) };
    let rounds = echo(4 << 10, items, 1_024, wanted);
    let what = "items of 4 KiB there and back, window 1,024, two workers: an item";
    Row::new(SMALL, what, (Target::AtMost(20.0), Unit::Microseconds), &rounds, |rounds| {
        (rounds.summary(|round| 1e6 * round.samples[0]), String::new())
    })
}

pub fn large(quick: bool) -> Row {
    let (items, wanted) = if quick { (100, 5) } else { (300, 9) };
    let rounds = echo(1 << 20, items, 16, wanted);
    let what = "items of 1 MiB there and back, window 16, two workers: an item";
    Row::new(LARGE, what, (Target::AtMost(4.0), Unit::Milliseconds), &rounds, |rounds| {
        (rounds.summary(|round| 1e3 * round.samples[0]), String::new())
    })
}

/// Blocks of 1 MiB that deflate neither to nothing nor not at all.
fn text(blocks: usize) -> Vec<Bytes> {
    let mut state = 1u64;
    let mut word = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % 4_096
    };
    let mut block = || {
        let mut text = String::with_capacity(1 << 20);
        while text.len() < 1 << 20 {
            text += &format!("{:x} ", word() * word());
        }
        text.truncate(1 << 20);
        Bytes::from(text)
    };
    (0..blocks).map(|_| block()).collect()
}

pub fn deflate(quick: bool) -> Row {
    let (blocks, wanted) = if quick { (40, 3) } else { (300, 5) };
    let what =
        format!("deflate -6 of {blocks} blocks of 1 MiB by two workers: share of the rate of two threads");
    Row::new(DEFLATE, what, (Target::AtLeast(80.0), Unit::Percent), &deflates(blocks, wanted), |rounds| {
        let threads = 1e3 * rounds.median(|round| round.samples[0]) / blocks as f64;
        (
            rounds.summary(|round| 100.0 * round.samples[0] / round.samples[1]),
            format!("threads take {threads:.1} ms a block"),
        )
    })
}

fn deflates(blocks: usize, wanted: usize) -> Result<Rounds, Unmeasured> {
    let fleet = Fleet::start(&[1, 1])?;
    let cluster = connect(&fleet.server.url)?;
    let remote = function::<Bytes, Bytes>(&cluster, "deflate")?;
    let text = text(blocks);
    let threads = || {
        let begin = Instant::now();
        let bytes = Stream::from_iter(&text).workers(2).map(|block| deflated(block).len()).sum::<usize>();
        assert!(bytes > 0);
        begin.elapsed().as_secs_f64()
    };
    let workers = || {
        let begin = Instant::now();
        let blocks = text.iter().cloned();
        let bytes =
            Stream::from_iter(blocks).window(16).map_remote(&remote).map(|block| block.len()).sum::<usize>();
        assert!(bytes.is_ok_and(|bytes| bytes > 0));
        begin.elapsed().as_secs_f64()
    };
    rounds(wanted, vec![("threads", Box::new(threads)), ("workers", Box::new(workers))])
}

/// Items take this long at a worker of speed 1, in microseconds; each eighth takes 8 times as long.
const TIME: u32 = 1_000;

pub fn skewed(quick: bool) -> Row {
    let (items, wanted) = if quick { (1_000, 3) } else { (4_000, 5) };
    let what = "waits of 1 ms, each eighth of 8 ms, by workers of speeds 1, 1 and 1/4: share of their rate";
    let times = move || (0..items).map(|n| if n % 8 == 0 { 8 * TIME } else { TIME });
    let measured = || {
        let fleet = Fleet::start(&[1, 1, 4])?;
        let cluster = connect(&fleet.server.url)?;
        let wait = function::<Wait, u32>(&cluster, "wait")?;
        let sample = || {
            let begin = Instant::now();
            let sum =
                Stream::from_iter(times().map(Wait)).window(64).map_remote(&wait).map(u64::from).sum::<u64>();
            assert_eq!(sum, Ok(times().map(u64::from).sum::<u64>()));
            begin.elapsed().as_secs_f64()
        };
        rounds(wanted, vec![("workers", Box::new(sample))])
    };
    let ideal = times().map(f64::from).sum::<f64>() / 1e6 / 2.25;
    Row::new(SKEWED, what, (Target::AtLeast(90.0), Unit::Percent), &measured(), |rounds| {
        (rounds.summary(|round| 100.0 * ideal / round.samples[0]), String::new())
    })
}
