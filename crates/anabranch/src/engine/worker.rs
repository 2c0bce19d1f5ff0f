//! A worker: walks a line from its sink to its source and does what it finds (rules 8, 9 and 11).

use std::panic::{AssertUnwindSafe, catch_unwind};

use anabranch_record::crew::{Guest, Offer};
use anabranch_record::sync::{Ordering, fence, spin_hint};

use super::assembly::{Line, Link, Poked, Station};
use super::clock::Moment;
use super::hop::Carrier;
use super::measures::Measures;
use super::run::{self, Cause, Run};
use super::threads::Terms;

/// A worker spins at most so many nanoseconds before it parks...
const SPIN: u64 = 50_000;
/// ... or so many where there are more threads than processors: who spins there keeps somebody from working...
const SPIN_CROWDED: u64 = 20_000;
/// ... or twice its recent waits; and so many after a few spins that were in vain.
const SPIN_IN_VAIN: u64 = 2_000;
const VAIN: u32 = 3;

/// A caller that helpers may come to calls them when its run has lasted so many nanoseconds.
const ALONE: u64 = 5_000;

/// It looks whether they have passed every so many steps.
const ALONE_STEPS: u32 = 4;

/// Where a worker comes from, which says when it may leave and how more can come.
#[derive(Clone, Copy)]
pub(super) enum Place<'l> {
    /// The thread that called the run. It stays to the end.
    Caller { offer: Option<&'l Offer<'l>>, more: Option<&'l dyn Fn()> },
    /// A thread of the run's own.
    Helper { more: &'l dyn Fn() },
    /// A thread of a crew.
    Guest(&'l Guest<'l>),
}

/// How a worker's walk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// The run is over.
    Done,
    /// There were too many, or another run wanted it.
    Away,
}

/// One thread's walk along a line. On cache lines of its own, as the line is.
#[repr(align(128))]
pub(super) struct Worker<'l, 'env> {
    line: &'l Line<'env>,
    run: &'l Run,
    place: Place<'l>,
    began: Moment,
    /// Its side of each link's hop.
    carriers: Vec<Option<Box<dyn Carrier + 'l>>>,
    window: u64,
    /// The mean of its recent waits, in nanoseconds, and how many spins in a row were in vain.
    wait: u64,
    vain: u32,
    /// It has called helpers, or need not.
    has_called: bool,
    /// How many steps it has taken alone.
    steps: u32,
    /// When it last noted how many items wait, how many steps there are between two notes, and until the next.
    noted: u64,
    pace: u32,
    unnoted: u32,
}

/// A worker notes how many items wait after so many nanoseconds, or after each step if that takes longer...
const NOTE: u64 = 50_000;
/// ... and after so many steps at most.
const NOTE_STEPS: u32 = 64;

impl<'l, 'env> Worker<'l, 'env> {
    pub(super) fn new(line: &'l Line<'env>, terms: Terms<'l>, place: Place<'l>) -> Self {
        let carriers = line.links.iter().map(|link| link.hop.as_ref().map(|hop| hop.carrier())).collect();
        let Terms { run, window, .. } = terms;
        let has_called = !matches!(place, Place::Caller { offer: Some(offer), .. } if !offer.is_called());
        Self {
            line,
            run,
            place,
            began: Moment::now(),
            carriers,
            window,
            wait: SPIN / 2,
            vain: 0,
            has_called,
            steps: 0,
            noted: 0,
            pace: 1,
            unnoted: 0,
        }
    }

    /// Works until the run is done, or until it is time to leave.
    pub(super) fn work(mut self) -> Left {
        let _track = self.run.measures().map(Measures::on_track);
        let left = loop {
            if self.run.is_done() {
                break Left::Done;
            }
            if self.is_too_many() && self.gets_away() {
                break Left::Away;
            }
            if self.step() {
                self.call_helpers();
                if let Some(measures) = self.run.measures() {
                    self.note_waiting(measures);
                }
            } else if let Place::Guest(guest) = self.place
                && guest.is_wanted_elsewhere()
                && self.gets_away()
            {
                guest.close_behind();
                self.run.was_left.store(true, Ordering::Relaxed);
                break Left::Away;
            } else {
                self.idle();
            }
        };
        // Who leaves may be the one that a notice has woken: it passes on what it leaves behind (rule 9).
        if left == Left::Away && self.look() {
            self.run.event.notify();
        }
        self.go_home();
        left
    }

    /// Lets a crew's helpers come once the run has shown to be worth it, and again when the last one has left. A
    /// worker that is alone looks at the clock every few steps: one item takes two or more.
    #[inline]
    fn call_helpers(&mut self) {
        let Place::Caller { offer: Some(offer), .. } = self.place else { return };
        if !self.run.is_alone() {
            return;
        }
        if self.run.was_left.load(Ordering::Relaxed) {
            self.run.was_left.store(false, Ordering::Relaxed);
            (self.has_called, self.began) = (false, Moment::now());
        } else if !self.has_called {
            self.steps += 1;
            let looks = self.steps.is_multiple_of(ALONE_STEPS);
            if cfg!(any(loom, shuttle)) || (looks && self.began.elapsed() >= ALONE) {
                self.has_called = true;
                offer.call();
            }
        }
    }

    /// Whether there are more workers than there should be. If there are too few, brings another.
    fn is_too_many(&self) -> bool {
        let target = self.run.target.load(Ordering::Relaxed);
        match self.place {
            Place::Guest(guest) => guest.is_overstaffed(),
            Place::Caller { more: Some(more), .. } | Place::Helper { more } if target > 0 => {
                let now = self.run.workers.load(Ordering::Relaxed);
                let order = Ordering::Relaxed;
                if now < target && self.run.workers.compare_exchange(now, now + 1, order, order).is_ok() {
                    more();
                }
                now > target && matches!(self.place, Place::Helper { .. })
            }
            _ => false,
        }
    }

    /// Leaves the count of workers, unless the one that stays might wait for what this one leaves behind: a source
    /// that is held may block.
    fn gets_away(&self) -> bool {
        let least = match self.place {
            Place::Helper { .. } => self.run.target.load(Ordering::Relaxed),
            _ => 1,
        };
        let fewer = |now: usize| (now > least).then(|| now - 1);
        if self.run.workers.fetch_update(Ordering::SeqCst, Ordering::Relaxed, fewer).is_err() {
            return false;
        }
        // Against the fence in the poke of a source: either we see it held, or its holder sees that it is alone.
        #[cfg(not(mutant = "no_fence_on_leaving"))]
        fence(Ordering::SeqCst);
        let line = self.line;
        let mut stations = std::iter::once(&line.source).chain(line.links.iter().map(|link| &link.station));
        let is_held = stations.any(|station| station.own.is_none() && station.node.is_held());
        if cfg!(not(mutant = "leaves_whatever_is_left")) && is_held && self.look() {
            self.run.workers.fetch_add(1, Ordering::SeqCst);
            return false;
        }
        true
    }

    /// Does the first thing that it finds, from the sink to the source. Says whether there was any.
    fn step(&mut self) -> bool {
        let (line, run) = (self.line, self.run);
        let elsewhere = move || run.is_done() || ready_places(line).next().is_some();
        for at in (0..line.links.len()).rev() {
            let Link { hop, station } = &line.links[at];
            if station.own.is_none() && station.node.is_ready() && self.serve(at) {
                return true;
            }
            if let Some(hop) = hop {
                let before = self.station_before(at);
                let carrier = self.carriers[at].as_mut().expect("a hop has a carrier");
                if hop.is_ready() && carrier.carry(before, self.window, &elsewhere) {
                    if cfg!(mutant = "claim_pokes_behind_a_hint") && !station.node.is_ready() {
                        return true;
                    }
                    #[cfg(not(mutant = "no_poke_after_claim"))]
                    self.serve(at);
                    return true;
                }
            }
        }
        let source = &line.source;
        source.own.is_none() && source.node.is_ready() && source.node.poke(&elsewhere) == Poked::Worked
    }

    /// Notes now and then how many items wait before each node.
    fn note_waiting(&mut self, measures: &Measures) {
        self.unnoted += 1;
        if self.unnoted < self.pace {
            return;
        }
        self.unnoted = 0;
        let now = measures.now();
        self.pace =
            if now < self.noted + NOTE { (2 * self.pace).min(NOTE_STEPS) } else { self.pace.div_ceil(2) };
        self.noted = now;
        if let Some(mut waiting) = measures.try_waiting() {
            waiting.note(now, self.line.waiting());
        }
    }

    fn station_before(&self, at: usize) -> &'l Station<'env> {
        let line = self.line;
        if at == 0 { &line.source } else { &line.links[at - 1].station }
    }

    /// Pokes the serial node of link `at`, and its serial neighbours as long as there was work (rule 5).
    fn serve(&self, mut at: usize) -> bool {
        let mut worked = false;
        loop {
            let station = &self.line.links[at].station;
            let poked = match &station.own {
                Some(own) => {
                    own.notify();
                    Poked::Elsewhere
                }
                // Not for what comes before it: that gives way to this one.
                None => station.node.poke(&|| self.run.is_done() || is_ready_behind(self.line, at)),
            };
            worked |= poked == Poked::Worked;
            if cfg!(mutant = "no_poke_of_neighbour") {
                return worked;
            }
            at += 1;
            let is_neighbour = self.line.links.get(at).is_some_and(|link| link.hop.is_none());
            if poked != Poked::Worked || !is_neighbour {
                return worked;
            }
        }
    }

    /// Whether there is anything to do. Only looks.
    fn look(&self) -> bool {
        self.run.is_done() || ready_places(self.line).next().is_some()
    }

    /// Waits until there may be something to do.
    fn idle(&mut self) {
        let began = Moment::now();
        if !self.spin(began) {
            let ticket = self.run.event.prepare();
            if cfg!(not(mutant = "no_last_look")) && self.look() {
                self.run.event.leave();
            } else {
                match &self.run.feed {
                    None => self.run.event.wait(ticket),
                    Some(feed) => feed.wait(ticket, &|| self.look()),
                }
            }
            // The notice that woke this worker has spared others, and it does one thing only: more than one place
            // wants another worker (rule 9). A hop passes its own rest on when it is claimed.
            // (It would also make up for the rules of the two other mutants, later than those do.)
            let passes_on = cfg!(not(any(
                mutant = "no_passing_on",
                mutant = "no_look_after_serve",
                mutant = "no_poke_of_neighbour"
            )));
            if passes_on && ready_places(self.line).nth(1).is_some() {
                self.run.event.notify();
            }
        }
        let waited = began.elapsed();
        self.wait = (3 * self.wait + waited) / 4;
        if let Some(measures) = self.run.measures() {
            measures.idled(began, waited);
        }
        if !self.has_called {
            // Only work without a pause shows that a helper would be of use.
            self.began = Moment::now();
        }
    }

    /// Spins for a while, if no other worker of the run does. Says whether something came.
    fn spin(&mut self, began: Moment) -> bool {
        if cfg!(any(loom, shuttle)) || self.run.spinning.0.swap(true, Ordering::Relaxed) {
            return false;
        }
        let most = if self.run.is_crowded { SPIN_CROWDED } else { SPIN };
        let limit = if self.vain >= VAIN { SPIN_IN_VAIN } else { most.min(2 * self.wait) };
        let found = loop {
            if self.look() {
                break true;
            }
            if began.elapsed() >= limit && !self.run.always_spins {
                break false;
            }
            for _ in 0..32 {
                spin_hint();
            }
        };
        self.run.spinning.0.store(false, Ordering::Relaxed);
        self.vain = if found { 0 } else { self.vain.saturating_add(1) };
        found
    }

    /// Drops the worker's states, on its thread.
    fn go_home(self) {
        let Self { carriers, run, .. } = self;
        for carrier in carriers {
            if let Err(payload) = catch_unwind(AssertUnwindSafe(move || drop(carrier))) {
                run.halt(run::Place::END, Cause::Panic(payload));
            }
        }
    }
}

/// The nodes of a line at which a worker would find something to do, as far as a look can tell.
fn ready_places(line: &Line<'_>) -> impl Iterator<Item = ()> {
    std::iter::once_with(|| is_open(&line.source))
        .chain(ready_links(&line.links))
        .filter(|&ready| ready)
        .map(drop)
}

/// Whether there is anything to do behind link `at`, toward the sink.
fn is_ready_behind(line: &Line<'_>, at: usize) -> bool {
    ready_links(&line.links[at + 1..]).any(|ready| ready)
}

/// Of each link whether its hop and whether its serial node is ready.
fn ready_links(links: &[Link<'_>]) -> impl Iterator<Item = bool> {
    links.iter().flat_map(|link| {
        let hop = link.hop.as_ref().is_some_and(|hop| hop.is_ready());
        [hop, is_open(&link.station)]
    })
}

/// Whether a worker would find something to do there. A dedicated node has its own thread.
fn is_open(station: &Station<'_>) -> bool {
    station.own.is_none() && station.node.is_ready()
}

/// The life of a dedicated thread: it runs one serial node, and waits on that node's own event.
pub(super) fn attend(station: &Station<'_>, run: &Run) {
    let own = station.own.as_ref().expect("a dedicated node has an event");
    let _track = run.measures().map(Measures::on_track);
    while !run.is_done() {
        if station.node.poke(&|| false) == Poked::Worked {
            continue;
        }
        let ticket = own.prepare();
        if station.node.is_ready() || run.is_done() {
            own.leave();
        } else {
            let began = Moment::now();
            own.wait(ticket);
            if let Some(measures) = run.measures() {
                measures.idled(began, began.elapsed());
            }
        }
    }
}
