//! Finds the primes below a limit, the standard example of SPar's papers. `tests/integration/examples.rs`
//! checks that the five forms of the loop agree.
//!
//! `cargo run --release --example primes [LIMIT]`

use std::collections::BTreeMap;
use std::thread;

use anabranch::{Stream, default_workers};
use crossbeam_channel::bounded;
use rayon::prelude::*;

fn is_prime(n: u64) -> bool {
    n > 1 && (2..).take_while(|k| k * k <= n).all(|k| !n.is_multiple_of(k))
}

/// The plain loop.
pub fn sequential(limit: u64) -> Vec<u64> {
    let mut primes = Vec::new();
    for n in 2..limit {
        let prime = is_prime(n);
        if prime {
            primes.push(n);
        }
    }
    primes
}

/// The loop with annotations.
#[anabranch::stream]
pub fn annotated(limit: u64) -> Vec<u64> {
    let mut primes = Vec::new();
    #[to_stream]
    for n in 2..limit {
        #[stage(replicate)]
        let prime = is_prime(n);
        if prime {
            primes.push(n);
        }
    }
    primes
}

/// The loop as a stream.
pub fn builder(limit: u64) -> Vec<u64> {
    Stream::from_iter(2..limit).filter(|&n| is_prime(n)).collect()
}

/// With rayon, which keeps the order of a range.
pub fn with_rayon(limit: u64) -> Vec<u64> {
    (2..limit).into_par_iter().filter(|&n| is_prime(n)).collect()
}

/// With threads and channels, and a map that restores the order.
pub fn with_channels(limit: u64) -> Vec<u64> {
    let (items, work) = bounded(1_024);
    let (results, done) = bounded(1_024);
    let mut primes = Vec::new();
    thread::scope(|scope| {
        scope.spawn(move || (2..limit).enumerate().for_each(|item| items.send(item).unwrap()));
        for _ in 0..default_workers() {
            let (work, results) = (work.clone(), results.clone());
            scope
                .spawn(move || work.iter().for_each(|(at, n)| results.send((at, (n, is_prime(n)))).unwrap()));
        }
        drop(results);
        let (mut early, mut next) = (BTreeMap::new(), 0);
        for (at, result) in done {
            early.insert(at, result);
            while let Some((n, prime)) = early.remove(&next) {
                if prime {
                    primes.push(n);
                }
                next += 1;
            }
        }
    });
    primes
}

fn main() {
    let limit = std::env::args().nth(1).map_or(100_000, |text| text.parse().expect("a limit"));
    let primes = annotated(limit);
    assert_eq!(primes, sequential(limit));
    assert_eq!(primes, builder(limit));
    println!("{} primes below {limit}; the last is {:?}", primes.len(), primes.last());
}
