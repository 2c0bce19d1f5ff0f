//! The suite of the rivals: a source, one parallel stage and an ordered sink, with Anabranch and with other
//! libraries.
//!
//! All run the same calibrated work. The rivals run in processes of their own (`measure/rivals/promises`), measure their
//! own time, and run in turn. Each has the best of some settings, which a search finds before the rounds.
//! Anabranch has its defaults.

mod contenders;
mod contest;
mod futures;
pub mod own;
pub mod peer;

use std::cell::RefCell;

use crate::look::{Look, Measured};
use contenders::{Kind, RIVALS, Rival};
use contest::Contest;
use measure_harness::rounds::Unmeasured;
use measure_harness::table::{Row, SUMMARY};
use measure_harness::target::Target;
pub use peer::{Peer, Run};

/// A grain of work, and its target.
#[derive(Debug, Clone, Copy)]
struct Grain {
    name: &'static str,
    nanos: f64,
    uneven: bool,
    target: Target,
}

const fn even(name: &'static str, nanos: f64, target: Target) -> Grain {
    Grain { name, nanos, uneven: false, target }
}

const fn uneven(name: &'static str, nanos: f64, target: Target) -> Grain {
    Grain { name, nanos, uneven: true, target }
}

const GRAINS: [Grain; 9] = [
    even("grain 0", 0.0, Target::AtLeast(5.0)),
    even("100 ns", 1e2, Target::AtLeast(2.0)),
    even("1 us", 1e3, Target::AtLeast(1.3)),
    even("10 us", 1e4, Target::Rival),
    even("100 us", 1e5, Target::Rival),
    uneven("100 ns, uneven", 1e2, Target::AtLeast(2.0)),
    uneven("1 us, uneven", 1e3, Target::AtLeast(1.3)),
    uneven("10 us, uneven", 1e4, Target::Rival),
    uneven("100 us, uneven", 1e5, Target::Rival),
];

/// The names of the groups.
pub fn names() -> Vec<String> {
    GRAINS.iter().map(|grain| grain.name).chain([futures::GROUP]).map(Into::into).collect()
}

/// The processes of the rivals. If one could not be started, the reason.
struct Peers {
    rust: Result<RefCell<Peer>, String>,
    cpp: Result<RefCell<Peer>, String>,
}

impl Peers {
    fn start() -> Self {
        Self { rust: Peer::rust().map(RefCell::new), cpp: Peer::cpp().map(RefCell::new) }
    }

    /// The process that runs a rival.
    fn of(&self, rival: &Rival) -> Result<&RefCell<Peer>, Unmeasured> {
        let peer = if rival.cpp { &self.cpp } else { &self.rust };
        let missing = |why: &str| Unmeasured::NotInstalled(why.to_owned());
        let peer = peer.as_ref().map_err(|why| missing(why))?;
        let has = peer.borrow().versions.contains_key(rival.name);
        if has { Ok(peer) } else { Err(missing(rival.install)) }
    }

    /// Names and versions, each once.
    fn versions(&self) -> Vec<String> {
        let mut known: Vec<String> = Vec::new();
        for rival in RIVALS.iter().filter(|rival| rival.kind != Kind::Chunks) {
            if let Ok(peer) = self.of(rival) {
                known.push(format!("{} {}", rival.package, peer.borrow().versions[rival.name]));
            }
        }
        known
    }
}

/// Measures the grains.
pub fn measure(look: &Look) -> Measured {
    let peers = Peers::start();
    let mut rows = Vec::new();
    for grain in GRAINS.iter().filter(|grain| look.at(grain.name)) {
        rows.extend(Contest::prepare(grain, &peers, look.quick).rows(look.quick));
    }
    let mut all = summary(&rows);
    if look.at(futures::GROUP) {
        let futures = futures::rows(&peers, look.quick);
        let sums = futures.iter().filter(|row| !row.verdict().is_empty());
        all.extend(sums.map(|row| Row { group: SUMMARY.into(), ..row.clone() }));
        rows.extend(futures);
    }
    all.extend(rows);
    let notes = vec![
        peers.versions().join(", "),
        "C++: g++ -std=c++20 -O3 (`measure/rivals/promises/cpp/build.sh`); Rust: as this program (`measure/rivals/promises`)"
            .into(),
    ];
    Measured { rows: all, notes }
}

/// The nearest rival of each grain: among all that keep the order, and among those of them that hand on
/// results as they come.
fn summary(rows: &[Row]) -> Vec<Row> {
    let mut summary = Vec::new();
    for group in rows.chunk_by(|a, b| a.group == b.group) {
        let nearest = |streams_only: bool| {
            let rivals = RIVALS.iter().filter(|rival| match rival.kind {
                Kind::Ordered => true,
                Kind::Collected => !streams_only,
                Kind::Chunks | Kind::Unordered => false,
            });
            let row_of = |rival: &Rival| group.iter().find(|row| row.what == rival.what());
            let measured = rivals.filter_map(row_of).filter_map(|row| Some((row, row.median()?)));
            measured.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(row, _)| row)
        };
        let of_all = nearest(false);
        let of_streams = nearest(true).filter(|row| of_all.is_none_or(|other| other.what != row.what));
        for row in [of_all, of_streams].into_iter().flatten() {
            let what = format!("{}: {}", row.group, row.what);
            summary.push(Row { group: SUMMARY.into(), what, ..row.clone() });
        }
    }
    summary
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_rivals_differ() {
        for (at, rival) in RIVALS.iter().enumerate() {
            assert!(
                RIVALS[..at].iter().all(|other| other.name != rival.name && other.what() != rival.what())
            );
            assert!(!rival.settings.is_empty());
        }
    }
}
