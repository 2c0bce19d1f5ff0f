//! The latency of each item at 80 % load.
//!
//! Items are due at times that a generator has chosen before the run, with exponential gaps, so a system that falls behind
//! does not slow the arrivals down. An item takes 1 ms, and arrivals take 80 % of what the workers can do. The latency is the
//! time from the moment an item is due until its result comes out in order.

use std::fmt;
use std::hint::black_box;
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::System;
use crate::random::Random;

/// The work of an item, in seconds.
const SERVICE: f64 = 1e-3;
/// The share of the workers' time that the items take.
const LOAD: f64 = 0.8;

/// Quantiles of the latency, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantiles {
    /// Half of the items take at most so long.
    pub p50: f64,
    /// 95 % of the items take at most so long.
    pub p95: f64,
    /// 99 % of the items take at most so long.
    pub p99: f64,
}

impl Quantiles {
    fn of(mut seconds: Vec<f64>) -> Option<Self> {
        seconds.sort_by(f64::total_cmp);
        // The smallest value that is at least as large as this share of all (the nearest rank).
        let at = |share: f64| {
            let rank = (share * seconds.len() as f64).ceil() as usize;
            seconds.get(rank.saturating_sub(1)).copied()
        };
        Some(Self { p50: at(0.5)?, p95: at(0.95)?, p99: at(0.99)? })
    }

    /// Reads quantiles that were displayed.
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = line.split(' ').map(|word| word.parse().ok());
        let (p50, p95, p99) = (words.next()??, words.next()??, words.next()??);
        words.next().is_none().then_some(Self { p50, p95, p99 })
    }
}

impl fmt::Display for Quantiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.p50, self.p95, self.p99)
    }
}

fn work(steps: u64) -> u64 {
    (0..steps).fold(black_box(1), |mut state, _| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^ (state << 17)
    })
}

/// How many steps take [`SERVICE`]: the most of some attempts, because an interruption makes it less.
fn steps() -> u64 {
    const STEPS: u64 = 200_000;
    let attempt = |_| {
        let begin = Instant::now();
        black_box(work(STEPS));
        (STEPS as f64 * SERVICE / begin.elapsed().as_secs_f64()) as u64
    };
    (0..10).map(attempt).max().unwrap_or(STEPS).max(1)
}

/// Lets items arrive for so many seconds. `None` if not all results came out.
pub fn latency<S: System>(workers: usize, seconds: f64) -> Option<Quantiles> {
    let gap = SERVICE / workers as f64 / LOAD;
    let mut random = Random::new(31);
    // The gaps of a Poisson process: exponential, by the inverse of its distribution.
    let mut uniform = || (random.below(1 << 20) as f64 + 0.5) / f64::from(1 << 20);
    let arrivals = (0..(seconds / gap) as usize).scan(0.01, |at, _| {
        *at -= gap * uniform().ln();
        Some(Duration::from_secs_f64(*at))
    });
    let due: &'static [Duration] = Box::leak(arrivals.collect());
    let steps = steps();
    let took = Arc::new(Mutex::new(Vec::with_capacity(due.len())));
    let noted = took.clone();
    let begin = Instant::now();
    let source = (0..due.len() as u64).inspect(move |&item| {
        sleep((begin + due[item as usize]).saturating_duration_since(Instant::now()));
    });
    let stage = move |item| {
        black_box(work(steps));
        Ok(item)
    };
    let sink = move |item: u64| {
        let latency = begin.elapsed().saturating_sub(due[item as usize]);
        noted.lock().expect("no sink panics").push(latency.as_secs_f64());
        Ok(())
    };
    S::live(source, workers, stage, sink).ok()?;
    let took = std::mem::take(&mut *took.lock().expect("no sink panics"));
    if took.len() == due.len() { Quantiles::of(took) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Loop;

    #[test]
    fn quantiles_are_the_nearest_ranks() {
        let all = (1..=200).rev().map(f64::from).collect();
        let quantiles = Quantiles::of(all).unwrap();
        assert_eq!(quantiles, Quantiles { p50: 100.0, p95: 190.0, p99: 198.0 });
        assert_eq!(Quantiles::parse(&quantiles.to_string()), Some(quantiles));
        assert_eq!(Quantiles::of(vec![]), None);
    }

    #[test]
    fn every_item_has_a_latency_of_at_least_its_work() {
        let quantiles = latency::<Loop>(1, 0.05).unwrap();
        assert!(quantiles.p50 > SERVICE / 2.0 && quantiles.p99 >= quantiles.p95, "{quantiles}");
    }
}
