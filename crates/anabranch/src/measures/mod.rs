//! Measurements of a run that is reported or watched. Other runs count nothing.
//!
//! Clocks are read and counters are raised a few times a claim or a serving, never once an item. A direct line has neither claims
//! nor servings, and reads clocks for some of its items (`engine/nodes/stopwatch.rs`). The memory that a run's measurements take does not grow
//! with its length. There are counters ([`meter`]), series with a fixed number of stretches ([`series`]), histograms
//! ([`transit`]), and events, some of which are dropped when there are too many ([`track`]).

mod mark;
mod meter;
mod run;
mod series;
pub(crate) mod track;
mod transit;

pub(crate) use mark::{Crossing, Mark};
pub(crate) use meter::{Reading, Tally};
pub(crate) use run::Measures;
pub(crate) use series::Series;
pub(crate) use track::Track;
#[cfg(feature = "json")]
pub(crate) use track::{Event, What};
pub(crate) use transit::Latencies;
