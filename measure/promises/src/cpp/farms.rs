//! Ordered farms of fine grain: a source, one parallel stage, an ordered sink.

use std::cell::RefCell;
use std::time::Duration;

use super::build::Built;
use crate::look::Look;
use crate::rivals::own;
use crate::rivals::peer::{Peer, Run};
use measure_harness::rounds::{Budget, Ceiling, Contender, Unmeasured, measure as play};
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};
use measure_harness::work::{Digest, Work};

/// The names of the groups: the work of an item.
pub const GROUPS: [&str; 3] = ["ordered farm, grain 0", "ordered farm, 100 ns", "ordered farm, 1 us"];
const NANOS: [f64; 3] = [0.0, 100.0, 1_000.0];
/// Above the Rust builder, in nanoseconds an item.
const MOST_ABOVE: f64 = 25.0;
/// About how many nanoseconds an item without work takes in the slowest of the libraries.
const PASSING_NS: f64 = 300.0;

/// A contender in C++: its name there, the program that runs it, its setting, its label, and how many times as long as
/// `builder` it has to take.
type Entry = (&'static str, Home, usize, &'static str, Option<f64>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Home {
    Farms,
    Rivals,
}

const ENTRIES: [Entry; 7] = [
    ("builder", Home::Farms, 0, "C++ builder", None),
    ("annotated", Home::Farms, 0, "annotated", None),
    ("fastflow", Home::Farms, 0, "FastFlow `ff_OFarm`", Some(3.0)),
    ("fastflow", Home::Farms, 1, "FastFlow `ff_OFarm`, blocking", Some(3.0)),
    ("tbb", Home::Rivals, 16, "oneTBB `parallel_pipeline`, 16 tokens", Some(2.0)),
    ("tbb", Home::Rivals, 64, "oneTBB `parallel_pipeline`, 64 tokens", Some(2.0)),
    ("tbb", Home::Rivals, 256, "oneTBB `parallel_pipeline`, 256 tokens", Some(2.0)),
];

pub fn measure(built: &Built, look: &Look) -> Vec<Row> {
    if !GROUPS.iter().any(|group| look.only.as_deref().is_none_or(|only| only == *group)) {
        return Vec::new();
    }
    let farms = built.farms().and_then(|program| Peer::start(&program)).map(RefCell::new);
    let rivals = Peer::cpp().map(RefCell::new);
    let peer = |home| if home == Home::Farms { &farms } else { &rivals };
    let mut rows = Vec::new();
    for (group, nanos) in GROUPS.into_iter().zip(NANOS).filter(|(group, _)| look.at(group)) {
        let work = Work::of(nanos);
        let items = ((if look.quick { 0.05 } else { 0.2 }) * 1e9 / (nanos + PASSING_NS)) as u64;
        let mut contenders = vec![own::items(work, items)];
        let mut missing = Vec::new();
        let mut playing = Vec::new();
        for entry @ (name, home, setting, label, _) in ENTRIES {
            let promise = (Target::None, Unit::Times);
            match peer(home) {
                Ok(peer) if peer.borrow().versions.contains_key(name) => {
                    contenders.push(Contender::sampled(label, work.fold(0..items), move || {
                        let run = peer.borrow_mut().run(Run { name, setting, work, items });
                        run.map_or((f64::NAN, Digest::EMPTY), |(seconds, digest)| {
                            (seconds * 1e9 / items as f64, digest)
                        })
                    }));
                    playing.push(entry);
                }
                Ok(_) => {
                    missing.push(Row::without(group, label, promise, Unmeasured::NotInstalled(label.into())))
                }
                Err(why) => {
                    missing.push(Row::without(group, label, promise, Unmeasured::Impossible(why.clone())))
                }
            }
        }
        let (wanted, seconds) = if look.quick { (7, 12) } else { (21, 60) };
        let budget = Budget { wanted, least: 7, time: Duration::from_secs(seconds) };
        let probe = Work::of(1e3);
        let rounds = play(budget, Some(Ceiling { work: probe, items: probe.items(0.02) }), contenders);
        rows.push(Row::new(group, "Rust builder", (Target::None, Unit::Nanoseconds), &rounds, |rounds| {
            (rounds.summary(|round| round.samples[0]), format!("the plain loop {:.1} ns", work.nanos))
        }));
        for (at, (_, _, _, label, times)) in playing.into_iter().enumerate() {
            let at = at + 1;
            rows.push(match times {
                None => {
                    let what = format!("{label}: above the Rust builder, an item");
                    Row::new(
                        group,
                        what,
                        (Target::AtMost(MOST_ABOVE), Unit::Nanoseconds),
                        &rounds,
                        |rounds| {
                            let each = rounds.median(|round| round.samples[at]);
                            (
                                rounds.summary(|round| round.samples[at] - round.samples[0]),
                                format!("{each:.1} ns an item"),
                            )
                        },
                    )
                }
                Some(times) => {
                    let target = if nanos <= 100.0 { Target::AtLeast(times) } else { Target::Rival };
                    let what = format!("{label}: times the C++ builder's time");
                    Row::new(group, what, (target, Unit::Times), &rounds, |rounds| {
                        let each = rounds.median(|round| round.samples[at]);
                        (
                            rounds.summary(|round| round.samples[at] / round.samples[1]),
                            format!("{each:.1} ns an item"),
                        )
                    })
                }
            });
        }
        rows.extend(missing);
    }
    rows
}
