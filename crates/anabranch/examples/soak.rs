//! Compares random pipelines with the plain loop, for as long as you like.
//!
//!     cargo run --release -p anabranch --example soak -- 60            # for 60 seconds
//!     cargo run --release -p anabranch --example soak -- --seed 1234   # one case, 1,000 times
//!
//! Each case is generated from a number, the seed. If a case breaks the contract, its seed is printed.
//! Threads are scheduled differently in each run, so a case that failed once may need many runs to fail
//! again.

#[path = "../tests/integration/contract_support/mod.rs"]
mod contract_support;

use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use contract_support::case::{Case, cases};
use contract_support::check::hold_in_time;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// How many times a case is run if its seed is given.
const AGAIN: u64 = 1_000;

/// The case of a seed.
fn case_of(seed: u64) -> Case {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    cases().new_tree(&mut runner).expect("any number makes a case").current()
}

/// Runs one case. If it fails, prints what is wrong, and returns false.
fn holds(seed: u64) -> bool {
    let case = case_of(seed);
    match hold_in_time(&case) {
        Ok(()) => true,
        Err(what) => {
            eprintln!("seed {seed} breaks the contract:\n{what}\n{case:#?}");
            false
        }
    }
}

fn again(seed: u64) -> ExitCode {
    println!("seed {seed}, {AGAIN} times: {:#?}", case_of(seed));
    for round in 1..=AGAIN {
        if !holds(seed) {
            eprintln!("in round {round}");
            return ExitCode::FAILURE;
        }
    }
    println!("the contract held");
    ExitCode::SUCCESS
}

fn soak(limit: Duration) -> ExitCode {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // A soak uses consecutive seeds. Numbers of this size are still easy to read.
    let first = now.as_millis() as u64 % 1_000_000_000 * 1_000;
    println!("seeds from {first} on, for {limit:?}");
    let (began, mut said) = (Instant::now(), Instant::now());
    let mut seed = first;
    while began.elapsed() < limit {
        if !holds(seed) {
            eprintln!("again: cargo run --release -p anabranch --example soak -- --seed {seed}");
            return ExitCode::FAILURE;
        }
        seed += 1;
        if said.elapsed() >= Duration::from_secs(10) {
            said = Instant::now();
            println!("{} cases in {:.0?}", seed - first, began.elapsed());
        }
    }
    println!("{} cases in {:.0?}: the contract held", seed - first, began.elapsed());
    ExitCode::SUCCESS
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--seed", seed] => match seed.parse() {
            Ok(seed) => again(seed),
            Err(_) => usage(),
        },
        [seconds] => match seconds.parse() {
            Ok(seconds) => soak(Duration::from_secs(seconds)),
            Err(_) => usage(),
        },
        [] => soak(Duration::from_secs(60)),
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    eprintln!("usage: soak [SECONDS] | soak --seed NUMBER");
    ExitCode::from(2)
}
