//! The suite of the rivals: ordered farms with Anabranch and with other libraries, with the settings of the applications.

use measure_applications::streams;
use measure_harness::table::{Row, SUMMARY};
use measure_harness::target::{Target, Unit};

use crate::farms::Farms;
use crate::futures;
use crate::look::{Look, Measured};

/// A grain, its workload, and the target for rivals.
const GRAINS: [(&str, &str, Target); 9] = [
    ("grain 0", "0ns", Target::AtLeast(5.0)),
    ("100 ns", "100ns", Target::AtLeast(2.0)),
    ("1 us", "1us", Target::AtLeast(1.3)),
    ("10 us", "10us", Target::Rival),
    ("100 us", "100us", Target::Rival),
    ("100 ns, uneven", "100ns-uneven", Target::AtLeast(2.0)),
    ("1 us, uneven", "1us-uneven", Target::AtLeast(1.3)),
    ("10 us, uneven", "10us-uneven", Target::Rival),
    ("100 us, uneven", "100us-uneven", Target::Rival),
];
const OWN: &str = "builder";
/// The rivals as variants, and in the table.
const RIVALS: [(&str, &str); 10] = [
    ("tbb", "oneTBB `parallel_pipeline`"),
    ("taskflow", "Taskflow `Pipeline`"),
    ("crossbeam", "channels and a reorder buffer"),
    ("threads", "threads and channels of the standard library"),
    ("pariter", "`pariter`"),
    ("par-stream", "`par-stream`"),
    ("pipeliner", "`pipeliner`"),
    ("tokio", "tokio `spawn`, in order"),
    ("orx", "`orx-parallel` (collects first)"),
    ("rayon", "rayon (collects first)"),
];

/// The names of the groups.
pub fn names() -> Vec<String> {
    GRAINS.iter().map(|grain| grain.0).chain([futures::GROUP]).map(Into::into).collect()
}

/// Measures the grains.
pub fn measure(look: &Look) -> Measured {
    let grains: Vec<_> = GRAINS.iter().filter(|grain| look.asks(grain.0)).collect();
    let variants: Vec<&str> = [OWN].into_iter().chain(RIVALS.map(|rival| rival.0)).collect();
    let (mut all, mut rows, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    if !grains.is_empty() {
        let farms = match Farms::build(&variants) {
            Ok(farms) => farms,
            Err(why) => return Measured::impossible("rivals", why),
        };
        for (name, workload, target) in grains {
            look.say(name);
            let played = farms.play(workload, &variants, look.quick);
            let nanoseconds = (Target::None, Unit::Nanoseconds);
            let own = played.row((name, "anabranch".into()), OWN, nanoseconds, |rounds, at| {
                rounds.summary(|round| round.samples[at])
            });
            let place = played.place(OWN);
            let of = |(variant, label): (&'static str, &str)| {
                let row = played.row((name, label.into()), variant, (*target, Unit::Times), |rounds, at| {
                    rounds.summary(|round| round.samples[at] / round.samples[place])
                });
                (variant, row)
            };
            let rivals = RIVALS.map(of);
            all.extend(nearest(&rivals));
            rows.push(own);
            rows.extend(rivals.map(|(_, row)| row));
            notes = vec![played.versions.join(", ")];
        }
    }
    if look.at(futures::GROUP) {
        let futures = futures::rows(look.quick);
        let sums = futures.iter().filter(|row| !row.verdict().is_empty());
        all.extend(sums.map(|row| Row { group: SUMMARY.into(), ..row.clone() }));
        rows.extend(futures);
    }
    all.extend(rows);
    Measured { rows: all, notes, ..Measured::default() }
}

/// The nearest rival of a grain: among all, and among those that hand on results as they come.
fn nearest(rivals: &[(&'static str, Row)]) -> Vec<Row> {
    let nearest = |streams_only: bool| {
        let meant = rivals.iter().filter(|(variant, _)| !streams_only || streams(variant));
        let measured = meant.filter_map(|(_, row)| Some((row, row.median()?)));
        measured.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(row, _)| row)
    };
    let of_all = nearest(false);
    let of_streams = nearest(true).filter(|row| of_all.is_none_or(|other| other.what != row.what));
    let sum_up = |row: &Row| {
        let what = format!("{}: {}", row.group, row.what);
        Row { group: SUMMARY.into(), what, ..row.clone() }
    };
    [of_all, of_streams].into_iter().flatten().map(sum_up).collect()
}

#[cfg(test)]
mod tests {
    use measure_programs::farm::Input;
    use measure_programs::{Scale, Workload};

    use super::*;

    #[test]
    fn every_grain_is_a_workload_and_the_nearest_rivals_are_shown() {
        for (name, workload, _) in GRAINS {
            assert!(Input::generate(workload, Scale::Tiny).is_some(), "{name}");
        }
        let row = |median| Row::single("g", format!("{median}"), (Target::Rival, Unit::Times), median, "");
        let rivals = [("tbb", row(3.0)), ("orx", row(0.5)), ("tokio", row(2.0))];
        let shown: Vec<String> = nearest(&rivals).into_iter().map(|row| row.what).collect();
        assert_eq!(shown, ["g: 0.5", "g: 2"]);
    }
}
