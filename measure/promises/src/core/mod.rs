//! The suite of the core: each group measures one of its promises.

mod blocks;
mod branches;
mod deferred;
mod idle;
mod idle_streams;
mod middle;
mod network_plans;
mod networks;
mod one_worker;
mod pipeline;
mod record;
mod report;
mod service;
mod several;
mod sleepers;
mod small_runs;
mod stages;
mod windows;

use std::time::Duration;

use crate::look::{Look, Measured};
use measure_harness::rounds::{Budget, Ceiling};
use measure_harness::table::Row;
use measure_harness::work::Work;

/// Measures one group and returns its rows.
type Group = fn(&Setup) -> Vec<Row>;

const GROUPS: [(&str, Group); 18] = [
    ("record", record::rows),
    ("pipeline", pipeline::rows),
    ("blocks", blocks::rows),
    ("stages", stages::rows),
    ("branches", branches::rows),
    ("windows", windows::rows),
    ("deferred", deferred::rows),
    ("service", service::rows),
    ("middle", middle::rows),
    ("several", several::rows),
    ("sleepers", sleepers::rows),
    ("one-worker", one_worker::rows),
    ("small-runs", small_runs::rows),
    ("idle", idle::rows),
    ("idle-streams", idle_streams::rows),
    ("report", report::rows),
    ("networks", networks::rows),
    ("network-plans", network_plans::rows),
];

/// What all groups need.
#[derive(Debug)]
struct Setup {
    quick: bool,
    budget: Budget,
    /// How long the plain loop takes in one round, in seconds.
    plain: f64,
    works: Works,
}

/// The work of each grain, calibrated with the plain loop.
#[derive(Debug)]
struct Works {
    none: Work,
    ns_55: Work,
    ns_100: Work,
    us_1: Work,
    us_10: Work,
    us_100: Work,
}

impl Setup {
    fn new(quick: bool) -> Self {
        let works = Works {
            none: Work::of(0.0),
            ns_55: Work::of(55.0),
            ns_100: Work::of(100.0),
            us_1: Work::of(1e3),
            us_10: Work::of(1e4),
            us_100: Work::of(1e5),
        };
        if quick {
            let budget = Budget { wanted: 7, least: 7, time: Duration::from_secs(3) };
            Self { quick, budget, plain: 0.04, works }
        } else {
            let budget = Budget { wanted: 21, least: 15, time: Duration::from_secs(18) };
            Self { quick, budget, plain: 0.08, works }
        }
    }

    /// Two plain threads, with as much of this work as one thread does in a round.
    fn ceiling(&self, work: Work) -> Ceiling {
        Ceiling { work, items: work.items(self.plain) }
    }

    /// A probe for groups that need two quiet cores but are not compared with two plain threads.
    fn probe(&self) -> Ceiling {
        Ceiling { work: self.works.us_1, items: self.works.us_1.items(self.plain / 4.0) }
    }

    /// How many items a round has if they have no work.
    fn bare_items(&self) -> u64 {
        if self.quick { 2_000_000 } else { 4_000_000 }
    }
}

/// The names of the groups.
pub fn names() -> Vec<String> {
    GROUPS.iter().map(|&(name, _)| name.into()).collect()
}

/// Measures the groups.
pub fn measure(look: &Look) -> Measured {
    let setup = Setup::new(look.quick);
    let asked = GROUPS.into_iter().filter(|(name, _)| look.at(name));
    Measured { rows: asked.flat_map(|(_, group)| group(&setup)).collect(), ..Measured::default() }
}

/// Seconds as nanoseconds an item.
fn nanos(seconds: f64, items: u64) -> f64 {
    seconds * 1e9 / items as f64
}
