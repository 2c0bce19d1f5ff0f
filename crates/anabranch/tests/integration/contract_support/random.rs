//! Checks properties for random cases.
//!
//! The cases are the same in each run, because `.cargo/config.toml` sets `PROPTEST_RNG_SEED`. Another seed draws other cases,
//! and `PROPTEST_CASES` sets their number:
//!
//!     PROPTEST_RNG_SEED=$RANDOM PROPTEST_CASES=10000 cargo test -p anabranch --test integration generator::

use super::watchdog::{self, finishes_within};
use proptest::prelude::*;
use proptest::test_runner::{TestError, TestRunner};

/// The settings of a property that is checked for `usual` cases unless `PROPTEST_CASES` is set.
pub fn config(usual: u32) -> ProptestConfig {
    let ours = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    let is_set = std::env::var_os("PROPTEST_CASES").is_some();
    if is_set { ours } else { ProptestConfig { cases: usual, ..ours } }
}

/// Runs `body`, which checks a property, on a thread of its own. It has [`watchdog::LIMIT`] for each `usual` cases.
///
/// # Panics
/// If `body` takes longer, or with the panic of `body`.
pub fn within(usual: u32, body: impl FnOnce(ProptestConfig) + Send + 'static) {
    let config = config(usual);
    let limit = watchdog::LIMIT * config.cases.div_ceil(usual);
    finishes_within(limit, move || body(config))
        .unwrap_or_else(|| panic!("hangs: not finished after {limit:?}"));
}

/// Checks `property` for the cases that `config` says.
///
/// # Panics
/// With the smallest case that was found to break the property, and the reason. The reason stands last, because a case is long
/// and the beginning of a long output is cut off first.
pub fn for_all<S: Strategy>(
    config: ProptestConfig,
    strategy: S,
    property: impl Fn(S::Value) -> Result<(), TestCaseError>,
) {
    match TestRunner::new(config).run(&strategy, property) {
        Ok(()) => {}
        Err(TestError::Fail(reason, case)) => panic!("{case:#?}\n{reason}"),
        Err(TestError::Abort(reason)) => panic!("{reason}"),
    }
}
