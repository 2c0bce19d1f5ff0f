//! Checks properties for random cases.
//!
//! The cases are the same in each run, because `.cargo/config.toml` sets `PROPTEST_RNG_SEED`. Another seed draws other cases,
//! and `PROPTEST_CASES` sets their number:
//!
//!     PROPTEST_RNG_SEED=$RANDOM PROPTEST_CASES=10000 cargo test -p anabranch --test integration contract_random

use proptest::prelude::*;
use proptest::test_runner::{TestError, TestRunner};

/// The settings of a property that is checked for `usual` cases unless `PROPTEST_CASES` is set.
pub fn config(usual: u32) -> ProptestConfig {
    let ours = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    let is_set = std::env::var_os("PROPTEST_CASES").is_some();
    if is_set { ours } else { ProptestConfig { cases: usual, ..ours } }
}

/// Checks `property` for `usual` cases, or for as many as `PROPTEST_CASES` says.
///
/// # Panics
/// With the smallest case that was found to break the property, and the reason. The reason stands last, because a case is long
/// and the beginning of a long output is cut off first.
pub fn for_all<S: Strategy>(
    usual: u32,
    strategy: S,
    property: impl Fn(S::Value) -> Result<(), TestCaseError>,
) {
    match TestRunner::new(config(usual)).run(&strategy, property) {
        Ok(()) => {}
        Err(TestError::Fail(reason, case)) => panic!("{case:#?}\n{reason}"),
        Err(TestError::Abort(reason)) => panic!("{reason}"),
    }
}
