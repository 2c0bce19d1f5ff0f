//! Random pipelines against the plain loop for as long as asked.
//!
//!     SOAK_SECONDS=60 cargo test -p anabranch --release --test integration soak -- --ignored --nocapture
//!     SOAK_SEED=1234  cargo test -p anabranch --release --test integration soak -- --ignored --nocapture
//!
//! The second runs one case again, 1,000 times. Each case comes from a number, which is printed when the case
//! breaks the contract. Threads differ from run to run, so a case that failed once may need many runs to fail
//! again.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::generator::case::{Case, cases};
use crate::generator::hold_in_time;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// How often a case that is asked for by its number is run.
const AGAIN: u64 = 1_000;

/// The case of a number.
fn case_of(seed: u64) -> Case {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    cases().new_tree(&mut runner).expect("any number makes a case").current()
}

/// Runs one case.
fn hold(seed: u64) {
    let case = case_of(seed);
    if let Err(what) = hold_in_time(&case) {
        panic!("SOAK_SEED={seed} breaks the contract:\n{what}\n{case:#?}");
    }
}

fn number(variable: &str) -> Option<u64> {
    let value = std::env::var(variable).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{variable}={value}: not a number")))
}

#[test]
#[ignore = "runs for SOAK_SECONDS, a minute by default"]
fn random_pipelines_keep_the_contract_for_as_long_as_asked() {
    if let Some(seed) = number("SOAK_SEED") {
        println!("seed {seed}, {AGAIN} times: {:#?}", case_of(seed));
        (0..AGAIN).for_each(|_| hold(seed));
        return;
    }
    let limit = Duration::from_secs(number("SOAK_SECONDS").unwrap_or(60));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // Seeds of one soak follow each other; a number of this size can still be read aloud.
    let first = now.as_millis() as u64 % 1_000_000_000 * 1_000;
    println!("seeds from {first} on, for {limit:?}");
    let (began, mut said, mut seed) = (Instant::now(), Instant::now(), first);
    while began.elapsed() < limit {
        hold(seed);
        seed += 1;
        if said.elapsed() >= Duration::from_secs(10) {
            said = Instant::now();
            println!("{} cases in {:.0?}", seed - first, began.elapsed());
        }
    }
    println!("{} cases in {:.0?}: the contract held", seed - first, began.elapsed());
}
