//! Ordered farms of fine grain: a source, one parallel stage, an ordered sink.

use crate::farms::Farms;
use crate::look::{Look, Measured};
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};

/// The names of the groups, and their workloads.
const GRAINS: [(&str, &str); 3] =
    [("ordered farm, grain 0", "0ns"), ("ordered farm, 100 ns", "100ns"), ("ordered farm, 1 us", "1us")];
/// Above the Rust builder, in nanoseconds an item.
const MOST_ABOVE: f64 = 25.0;
const RUST: &str = "builder";
const BUILDER: &str = "cpp-builder";

/// The variants, their labels, and how many times as long as the C++ builder they have to take.
const ENTRIES: [(&str, &str, Option<f64>); 5] = [
    (BUILDER, "C++ builder", None),
    ("cpp-annotated", "annotated", None),
    ("fastflow-spinning", "FastFlow `ff_OFarm`", Some(3.0)),
    ("fastflow", "FastFlow `ff_OFarm`, blocking", Some(3.0)),
    ("tbb", "oneTBB `parallel_pipeline`", Some(2.0)),
];

/// The names of the groups.
pub fn names() -> impl Iterator<Item = &'static str> {
    GRAINS.into_iter().map(|(name, _)| name)
}

pub fn measure(look: &Look) -> Vec<Row> {
    let grains: Vec<_> = GRAINS.into_iter().filter(|(group, _)| look.asks(group)).collect();
    if grains.is_empty() {
        return Vec::new();
    }
    let variants: Vec<&str> = [RUST].into_iter().chain(ENTRIES.map(|entry| entry.0)).collect();
    let farms = match Farms::build(&variants) {
        Ok(farms) => farms,
        Err(why) => return Measured::impossible("ordered farms", why).rows,
    };
    let mut rows = Vec::new();
    for (group, workload) in grains {
        look.say(group);
        let played = farms.play(workload, &variants, look.quick);
        let [rust, builder] = [RUST, BUILDER].map(|variant| played.place(variant));
        let unit = (Target::None, Unit::Nanoseconds);
        rows.push(played.row((group, "Rust builder".into()), RUST, unit, |rounds, at| {
            rounds.summary(|round| round.samples[at])
        }));
        rows.extend(ENTRIES.map(|(variant, label, times)| match times {
            None => {
                let what = format!("{label}: above the Rust builder, an item");
                let target = (Target::AtMost(MOST_ABOVE), Unit::Nanoseconds);
                played.row((group, what), variant, target, |rounds, at| {
                    rounds.summary(|round| round.samples[at] - round.samples[rust])
                })
            }
            Some(times) => {
                let target = if workload == "1us" { Target::Rival } else { Target::AtLeast(times) };
                let what = format!("{label}: times the C++ builder's time");
                played.row((group, what), variant, (target, Unit::Times), |rounds, at| {
                    rounds.summary(|round| round.samples[at] / round.samples[builder])
                })
            }
        }));
    }
    rows
}
