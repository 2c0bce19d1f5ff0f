//! The suite of the rivals: source, one parallel stage, ordered sink, on Anabranch and on other libraries.
//!
//! All run the same calibrated work. The rivals run in processes of their own (`bench/rivals`), time themselves, and
//! are asked in turn. Each has the best of some settings, which a search finds before the rounds; Anabranch has its
//! defaults.

mod contenders;
mod peer;

use std::cell::RefCell;
use std::thread;
use std::time::{Duration, Instant};

use anabranch::Stream;

use crate::rounds::{Budget, Ceiling, Contender, Unmeasured, measure as play};
use crate::suites::{Look, Measured};
use crate::table::Row;
use crate::target::{Target, Unit};
use crate::work::{Digest, Work};
use contenders::{Kind, RIVALS, Rival};
use peer::{Peer, Run, SETTLE};

/// A grain of work, and what is promised there.
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

/// Above this grain nobody gathers items by hand.
const CHUNKS_UP_TO: f64 = 1e3;
/// How many items Anabranch gets in a chunk, where it is given chunks: the best, as for the rivals.
const CHUNKS: [usize; 3] = [16, 256, 2_048];

/// The names of the groups.
pub fn names() -> Vec<String> {
    GRAINS.iter().map(|grain| grain.name.into()).collect()
}

/// The processes, and what is missing where one could not be started.
struct Peers {
    rust: Result<RefCell<Peer>, String>,
    cpp: Result<RefCell<Peer>, String>,
}

impl Peers {
    fn start() -> Self {
        Self { rust: Peer::rust().map(RefCell::new), cpp: Peer::cpp().map(RefCell::new) }
    }

    /// The process that has a rival.
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
        rows.extend(contest(look, &peers, grain));
    }
    let mut all = summary(&rows);
    all.extend(rows);
    let notes = vec![
        peers.versions().join(", "),
        "C++: g++ -std=c++20 -O3 (`bench/rivals/cpp/build.sh`); Rust: as this program (`bench/rivals`)"
            .into(),
    ];
    Measured { rows: all, notes }
}

/// A rival in a contest.
struct Entry<'a> {
    rival: &'static Rival,
    paced: Result<Paced<'a>, Unmeasured>,
}

/// With its best setting, and so many items that each contender has about as long.
struct Paced<'a> {
    peer: &'a RefCell<Peer>,
    setting: usize,
    items: u64,
}

impl Entry<'_> {
    /// Sampled in nanoseconds an item.
    fn contender(&self, work: Work) -> Option<Contender<'_>> {
        let &Self { rival, paced: Ok(Paced { peer, setting, items }) } = self else { return None };
        Some(Contender::sampled(rival.label, rival.expected(work, items), move || {
            let run = Run { name: rival.name, setting, work, items };
            // A rival that does not answer has a wrong digest.
            let (seconds, digest) = peer.borrow_mut().run(run).unwrap_or((f64::NAN, Digest::EMPTY));
            (per_item(seconds, items), digest)
        }))
    }
}

/// One grain: searches, plays rounds, and gives the rows.
fn contest(look: &Look, peers: &Peers, grain: &Grain) -> Vec<Row> {
    let work = Work::of(grain.nanos);
    let work = if grain.uneven { work.uneven() } else { work };
    let seconds = if look.quick { 0.012 } else { 0.04 };
    let entries: Vec<Entry> = RIVALS
        .iter()
        .filter(|rival| rival.kind != Kind::Chunks || grain.nanos <= CHUNKS_UP_TO)
        .map(|rival| {
            let paced = peers
                .of(rival)
                .and_then(|peer| best_setting(rival, peer, work, seconds).map_err(Unmeasured::Impossible));
            Entry { rival, paced }
        })
        .collect();
    let items = if grain.nanos == 0.0 { (seconds * 1e8) as u64 } else { work.items(2.0 * seconds) };
    let chunk = own_best_chunk(work, items);
    let mut contenders = vec![
        own("anabranch", work, items, || each(work, items)),
        own("anabranch, in chunks", work, items, || chunks(work, items, chunk)),
    ];
    contenders.extend(entries.iter().filter_map(|entry| entry.contender(work)));
    let budget = if look.quick {
        Budget { wanted: 7, least: 7, time: Duration::from_secs(6) }
    } else {
        Budget { wanted: 21, least: 15, time: Duration::from_secs(60) }
    };
    // Without work two plain threads say nothing, and only tell whether the machine was quiet.
    let plain = if grain.nanos == 0.0 { Work::of(1e3) } else { work };
    let ceiling = Ceiling { work: plain, items: plain.items(seconds) };
    let rounds = play(budget, Some(ceiling), contenders);
    if let Err(why) = rounds {
        let target = (grain.target, Unit::Times);
        return vec![Row::new(grain.name, "all contenders", target, &Err(why), |_| {
            unreachable!("no rounds")
        })];
    }
    let mut rows =
        vec![Row::new(grain.name, "anabranch", (Target::None, Unit::Nanoseconds), &rounds, |rounds| {
            let two = per_item(rounds.median(|round| round.two()), ceiling.items);
            let plain = format!("the plain loop {:.1} ns", work.nanos);
            let both = format!("two plain threads {two:.1} ns, {plain}");
            (rounds.summary(|round| round.samples[0]), if grain.nanos == 0.0 { plain } else { both })
        })];
    let against = |at: usize, what: String, target: Target, setting: String| {
        Row::new(grain.name, what, (target, Unit::Times), &rounds, |rounds| {
            let each = Unit::Nanoseconds.show(rounds.median(|round| round.samples[at]));
            (rounds.summary(|round| round.samples[at] / round.samples[0]), format!("{each} an item{setting}"))
        })
    };
    if grain.nanos <= CHUNKS_UP_TO {
        let what = "anabranch (chunks by hand)".into();
        rows.push(against(1, what, Target::None, format!("; {chunk} items a chunk")));
    }
    let mut at = 2..;
    for Entry { rival, paced } in &entries {
        let (what, target) = (rival.what(), rival.kind.target(grain.target));
        rows.push(match paced {
            Ok(paced) => {
                let at = at.next().expect("it does not end");
                against(at, what, target, rival.with(paced.setting))
            }
            Err(why) => Row::new(grain.name, what, (target, Unit::Times), &Err(why.clone()), |_| {
                unreachable!("no rounds")
            }),
        });
    }
    rows
}

/// Anabranch itself, sampled in nanoseconds an item.
fn own<'a>(name: &str, work: Work, items: u64, run: impl Fn() -> Digest + 'a) -> Contender<'a> {
    Contender::sampled(name, work.fold(0..items), move || {
        thread::sleep(SETTLE);
        let start = Instant::now();
        let digest = run();
        (per_item(start.elapsed().as_secs_f64(), items), digest)
    })
}

/// The size of chunks with which Anabranch is quickest, the least of two runs each.
fn own_best_chunk(work: Work, items: u64) -> usize {
    let time = |size: usize| {
        let run = || {
            let start = Instant::now();
            chunks(work, items, size);
            start.elapsed()
        };
        run().min(run())
    };
    CHUNKS.into_iter().min_by_key(|&size| time(size)).unwrap_or(1)
}

fn per_item(seconds: f64, items: u64) -> f64 {
    seconds * 1e9 / items as f64
}

/// The setting with which a rival is quickest, of those that it may have: the least of two runs each.
fn best_setting<'a>(
    rival: &Rival,
    peer: &'a RefCell<Peer>,
    work: Work,
    seconds: f64,
) -> Result<Paced<'a>, String> {
    let mut best: Option<(f64, usize)> = None;
    for &setting in rival.settings {
        // Enough items for a run that says something: more until it takes a quarter of the time of a round's.
        let mut items = 64;
        let mut each = loop {
            let run = Run { name: rival.name, setting, work, items };
            let (took, _) = peer.borrow_mut().run(run)?;
            if took >= seconds / 4.0 {
                break took / items as f64;
            }
            items *= if took < seconds / 40.0 { 8 } else { 2 };
        };
        let (took, _) = peer.borrow_mut().run(Run { name: rival.name, setting, work, items })?;
        each = each.min(took / items as f64);
        if best.is_none_or(|(least, _)| each < least) {
            best = Some((each, setting));
        }
    }
    let (each, setting) = best.ok_or("no settings to try")?;
    Ok(Paced { peer, setting, items: ((seconds / each) as u64).max(16) })
}

/// Anabranch, with its defaults.
fn each(work: Work, items: u64) -> Digest {
    Stream::from_iter(0..items).map(move |item| work.run(item)).fold(Digest::EMPTY, Digest::with)
}

/// Anabranch, with chunks made by hand.
fn chunks(work: Work, items: u64, size: usize) -> Digest {
    let mut left = 0..items;
    let source = std::iter::from_fn(move || {
        let chunk: Vec<u64> = left.by_ref().take(size).collect();
        (!chunk.is_empty()).then_some(chunk)
    });
    let map = move |mut chunk: Vec<u64>| {
        chunk.iter_mut().for_each(|item| *item = work.run(*item));
        chunk
    };
    let sink = |digest, chunk: Vec<u64>| chunk.into_iter().fold(digest, Digest::with);
    Stream::from_iter(source).map(map).fold(Digest::EMPTY, sink)
}

/// The nearest rival of each grain: of all that keep order, and of those among them that hand results on as they come.
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
            summary.push(Row { group: "The nearest rival".into(), what, ..row.clone() });
        }
    }
    summary
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_and_single_items_give_the_same() {
        let work = Work::calibrated(3, true);
        assert_eq!(each(work, 10_000), work.fold(0..10_000));
        assert!(CHUNKS.iter().all(|&size| chunks(work, 10_000, size) == work.fold(0..10_000)));
    }

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
