//! The primes below a limit: the classic of SPar's papers. Three forms of one loop, held equal by `tests/examples.rs`.
//!
//! `cargo run --release --example primes [LIMIT]`

use anabranch::Stream;

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

/// As a stream.
pub fn builder(limit: u64) -> Vec<u64> {
    Stream::from_iter(2..limit).filter(|&n| is_prime(n)).collect()
}

fn main() {
    let limit = std::env::args().nth(1).map_or(100_000, |text| text.parse().expect("a limit"));
    let primes = annotated(limit);
    assert_eq!(primes, sequential(limit));
    assert_eq!(primes, builder(limit));
    println!("{} primes below {limit}; the last is {:?}", primes.len(), primes.last());
}
