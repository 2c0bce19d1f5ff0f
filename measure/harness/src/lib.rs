//! How Anabranch is measured. All measurements use this library, so their numbers mean the same.
//!
//! Every number is measured in [`rounds`], in each of which every contender runs once. The [`statistics`] of
//! the rounds are a median and an interval for it, and the interval decides whether a [`target`] is met. A
//! [`table`] has a row for each number, and says on which [`machine`] it was measured. [`work`] has calibrated
//! work and a digest of results that depends on their order. [`energy`] reads the meters of the processors, and
//! [`distance`] tells how far apart two cores are. A [`rival`] is a process that runs what is measured beside others, and [`builds`]
//! builds it.
#![forbid(unsafe_code)]

pub mod builds;
#[cfg(feature = "charts")]
pub mod chart;
pub mod distance;
pub mod energy;
pub mod machine;
pub mod rival;
pub mod rounds;
pub mod statistics;
pub mod table;
pub mod target;
pub mod work;
