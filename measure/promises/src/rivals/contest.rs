//! One grain: a search finds the settings of the rivals, and then all of them play rounds.

use std::cell::RefCell;
use std::time::Duration;

use super::contenders::{Kind, RIVALS, Rival};
use super::peer::{Peer, Run};
use super::{Grain, Peers, own};
use measure_harness::rounds::{Budget, Ceiling, Contender, Rounds, Unmeasured, measure};
use measure_harness::statistics::Summary;
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};
use measure_harness::work::{Digest, Work};

/// A rival that takes at least this many times as long ties with Anabranch.
const TIE: f64 = 0.95;
/// Above this grain, in nanoseconds, chunks are not measured.
const CHUNKS_UP_TO: f64 = 1e3;

/// Anabranch and the rivals, ready for one grain.
pub struct Contest<'a> {
    grain: &'a Grain,
    work: Work,
    /// How many items Anabranch gets in a round.
    items: u64,
    /// How many items make a chunk, if chunks are measured.
    chunk: Option<usize>,
    ceiling: Ceiling,
    entries: Vec<Entry<'a>>,
}

/// A rival in a contest.
struct Entry<'a> {
    rival: &'static Rival,
    paced: Result<Paced<'a>, Unmeasured>,
}

/// A rival with its best setting, and with so many items that every contender takes about as long.
struct Paced<'a> {
    peer: &'a RefCell<Peer>,
    setting: usize,
    items: u64,
}

impl<'a> Contest<'a> {
    /// Searches the settings of the rivals.
    pub fn prepare(grain: &'a Grain, peers: &'a Peers, quick: bool) -> Self {
        let work = Work::of(grain.nanos);
        let work = if grain.uneven { work.uneven() } else { work };
        // The time of one run.
        let seconds = if quick { 0.012 } else { 0.04 };
        let in_chunks = grain.nanos <= CHUNKS_UP_TO;
        let items = if grain.nanos == 0.0 { (seconds * 1e8) as u64 } else { work.items(2.0 * seconds) };
        let entry = |rival| {
            let search = |peer| best_setting(rival, peer, work, seconds).map_err(Unmeasured::Impossible);
            Entry { rival, paced: peers.of(rival).and_then(search) }
        };
        let rivals = RIVALS.iter().filter(|rival| in_chunks || rival.kind != Kind::Chunks);
        // Without work, two plain threads have no meaning as a ceiling, and only tell whether the machine was
        // quiet.
        let plain = if grain.nanos == 0.0 { Work::of(1e3) } else { work };
        Self {
            grain,
            work,
            items,
            chunk: in_chunks.then(|| own::best_chunk(work, items)),
            ceiling: Ceiling { work: plain, items: plain.items(seconds) },
            entries: rivals.map(entry).collect(),
        }
    }

    /// Plays the rounds.
    pub fn rows(&self, quick: bool) -> Vec<Row> {
        let budget = if quick {
            Budget { wanted: 7, least: 7, time: Duration::from_secs(4) }
        } else {
            Budget { wanted: 21, least: 15, time: Duration::from_secs(60) }
        };
        let chunks = self.chunk.map(|size| own::in_chunks(self.work, self.items, size));
        let rivals = self.entries.iter().filter_map(|entry| entry.contender(self.work));
        let own = [own::items(self.work, self.items), own::never_waits(self.work, self.items)];
        let contenders = own.into_iter().chain(chunks).chain(rivals).collect();
        match measure(budget, Some(self.ceiling), contenders) {
            Ok(rounds) => self.judge(&Ok(rounds)),
            Err(why) => {
                vec![self.row("all contenders", self.grain.target, &Err(why), |_| unreachable!("no rounds"))]
            }
        }
    }

    fn judge(&self, rounds: &Result<Rounds, Unmeasured>) -> Vec<Row> {
        let mut places = 1..;
        let mut next = || places.next().expect("it does not end");
        let mut rows = vec![self.own(rounds)];
        let blocks = next();
        let what = "anabranch (a source that never waits)";
        rows.push(self.row(what, Target::None, rounds, against(blocks, String::new())));
        if let Some(size) = self.chunk {
            let what = "anabranch (chunks by hand)";
            rows.push(self.row(
                what,
                Target::None,
                rounds,
                against(next(), format!("; {size} items a chunk")),
            ));
        }
        for Entry { rival, paced } in &self.entries {
            let (what, target) = (rival.what(), rival.kind.target(self.grain.target));
            match paced {
                Ok(paced) => {
                    let at = next();
                    rows.push(self.row(&what, target, rounds, against(at, rival.with(paced.setting))));
                    if rival.kind == Kind::Collected {
                        rows.push(self.beside_blocks(&what, rounds, (at, blocks)));
                    }
                }
                Err(why) => {
                    rows.push(self.row(&what, target, &Err(why.clone()), |_| unreachable!("no rounds")));
                }
            }
        }
        rows
    }

    /// The row of Anabranch itself, in nanoseconds.
    fn own(&self, rounds: &Result<Rounds, Unmeasured>) -> Row {
        let unit = (Target::None, Unit::Nanoseconds);
        Row::new(self.grain.name, "anabranch", unit, rounds, |rounds| {
            let mut remark = format!("the plain loop {:.1} ns", self.work.nanos);
            if self.grain.nanos > 0.0 {
                let two = per_item(rounds.median(|round| round.two()), self.ceiling.items);
                remark = format!("two plain threads {two:.1} ns, {remark}");
            }
            (rounds.summary(|round| round.samples[0]), remark)
        })
    }

    /// How many times as long a rival that collects its results takes as a source that never waits: its source does not
    /// wait either.
    fn beside_blocks(
        &self,
        rival: &str,
        rounds: &Result<Rounds, Unmeasured>,
        (at, blocks): (usize, usize),
    ) -> Row {
        let what = format!("{rival}, beside a source that never waits");
        let target =
            if (1e2..=1e3).contains(&self.grain.nanos) { Target::AtLeast(TIE) } else { Target::None };
        self.row(&what, target, rounds, |rounds| {
            (rounds.summary(|round| round.samples[at] / round.samples[blocks]), String::new())
        })
    }

    fn row(
        &self,
        what: &str,
        target: Target,
        rounds: &Result<Rounds, Unmeasured>,
        number: impl Fn(&Rounds) -> (Summary, String),
    ) -> Row {
        Row::new(self.grain.name, what, (target, Unit::Times), rounds, number)
    }
}

/// How many times as long as Anabranch contender `at` takes.
fn against(at: usize, setting: String) -> impl Fn(&Rounds) -> (Summary, String) {
    move |rounds| {
        let each = Unit::Nanoseconds.show(rounds.median(|round| round.samples[at]));
        (rounds.summary(|round| round.samples[at] / round.samples[0]), format!("{each} an item{setting}"))
    }
}

impl Entry<'_> {
    /// A contender whose sample is in nanoseconds an item.
    fn contender(&self, work: Work) -> Option<Contender<'_>> {
        let &Self { rival, paced: Ok(Paced { peer, setting, items }) } = self else { return None };
        Some(Contender::sampled(rival.what(), rival.expected(work, items), move || {
            let run = Run { name: rival.name, setting, work, items };
            // A rival that does not answer counts as a wrong digest.
            let (seconds, digest) = peer.borrow_mut().run(run).unwrap_or((f64::NAN, Digest::EMPTY));
            (per_item(seconds, items), digest)
        }))
    }
}

fn per_item(seconds: f64, items: u64) -> f64 {
    seconds * 1e9 / items as f64
}

/// The setting with which a rival is fastest, by the median of three runs each.
fn best_setting<'a>(
    rival: &Rival,
    peer: &'a RefCell<Peer>,
    work: Work,
    seconds: f64,
) -> Result<Paced<'a>, String> {
    let mut best: Option<(f64, usize)> = None;
    for &setting in rival.settings {
        let run = |items| {
            let run = Run { name: rival.name, setting, work, items };
            peer.borrow_mut().run(run).map(|(took, _)| took)
        };
        // Takes more items until a run lasts long enough: a quarter of the time of a run in a round.
        let (mut items, mut took) = (64, run(64)?);
        while took < seconds / 4.0 {
            items *= if took < seconds / 40.0 { 8 } else { 2 };
            took = run(items)?;
        }
        let each = Summary::of([run(items)?, run(items)?, run(items)?]).median / items as f64;
        if best.is_none_or(|(least, _)| each < least) {
            best = Some((each, setting));
        }
    }
    let (each, setting) = best.ok_or("no settings to try")?;
    Ok(Paced { peer, setting, items: ((seconds / each) as u64).max(16) })
}
