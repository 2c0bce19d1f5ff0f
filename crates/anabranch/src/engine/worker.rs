//! A worker: walks a line from its sink to its source and does what it finds (rules 8, 9 and 11).

use std::panic::{AssertUnwindSafe, catch_unwind};

use anabranch_record::crew::{Guest, Offer};
use anabranch_record::sync::{Ordering, fence, spin_hint};

use super::clock::Moment;
use super::failure::{Cause, Position};
use super::hop::Carrier;
use super::line::{Farm, Line, Place, Poked, Station};
use super::measures::Measures;
use super::run::Run;

/// A worker spins for at most this many nanoseconds before it parks...
const SPIN_NS: u64 = 50_000;
/// ... or this many where there are more threads than processors, since a thread that spins there takes the processor of
/// one that could work...
const SPIN_CROWDED_NS: u64 = 20_000;
/// ... or twice its recent waits; and this many after a few spins that were in vain.
const SPIN_IN_VAIN_NS: u64 = 2_000;
const SPINS_IN_VAIN: u32 = 3;

/// A caller that helpers may come to calls them when its run has lasted this many nanoseconds.
const CALL_HELPERS_NS: u64 = 5_000;

/// The caller reads the clock for that every so many steps.
const CALL_HELPERS_STEPS: u32 = 4;

/// The facts that the threads of a run need in addition to the line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms<'r> {
    pub(crate) run: &'r Run,
    /// The widest window of the plan's domains, in items.
    pub(crate) window: u64,
    /// The threads' names begin with it.
    pub(crate) name: &'r str,
}

/// Where a worker comes from, which says when it may leave and how more can come.
#[derive(Clone, Copy)]
pub(super) enum Origin<'l> {
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
    origin: Origin<'l>,
    began: Moment,
    /// For each place, its side of the parallel unit there, if that is one.
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

/// A worker notes how many items wait after this many nanoseconds, or after each step if that takes longer...
const NOTE_NS: u64 = 50_000;
/// ... and after this many steps at most.
const NOTE_STEPS: u32 = 64;

impl<'l, 'env> Worker<'l, 'env> {
    pub(super) fn new(line: &'l Line<'env>, terms: Terms<'l>, origin: Origin<'l>) -> Self {
        let carrier = |place: &'l Place<'env>| match place {
            Place::Serial(_) => None,
            Place::Parallel(farm) => Some(farm.hop.carrier()),
        };
        let carriers = line.places.iter().map(carrier).collect();
        let Terms { run, window, .. } = terms;
        let has_called = !matches!(origin, Origin::Caller { offer: Some(offer), .. } if !offer.is_called());
        Self {
            line,
            run,
            origin,
            began: Moment::now(),
            carriers,
            window,
            wait: SPIN_NS / 2,
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
            } else if let Origin::Guest(guest) = self.origin
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
        // This worker may be the one that a notice has woken. If it leaves work behind, it wakes another (rule 9).
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
        let Origin::Caller { offer: Some(offer), .. } = self.origin else { return };
        if !self.run.is_alone() {
            return;
        }
        if self.run.was_left.load(Ordering::Relaxed) {
            self.run.was_left.store(false, Ordering::Relaxed);
            (self.has_called, self.began) = (false, Moment::now());
        } else if !self.has_called {
            self.steps += 1;
            let looks = self.steps.is_multiple_of(CALL_HELPERS_STEPS);
            if cfg!(any(loom, shuttle)) || (looks && self.began.elapsed() >= CALL_HELPERS_NS) {
                self.has_called = true;
                offer.call();
            }
        }
    }

    /// Whether there are more workers than there should be. If there are too few, brings another.
    fn is_too_many(&self) -> bool {
        let target = self.run.target.load(Ordering::Relaxed);
        match self.origin {
            Origin::Guest(guest) => guest.is_overstaffed(),
            Origin::Caller { more: Some(more), .. } | Origin::Helper { more } if target > 0 => {
                let now = self.run.workers.load(Ordering::Relaxed);
                let order = Ordering::Relaxed;
                if now < target && self.run.workers.compare_exchange(now, now + 1, order, order).is_ok() {
                    more();
                }
                now > target && matches!(self.origin, Origin::Helper { .. })
            }
            _ => false,
        }
    }

    /// Leaves the count of workers, unless the one that stays might wait for what this one leaves behind: a source
    /// that is held may block.
    fn gets_away(&self) -> bool {
        let least = match self.origin {
            Origin::Helper { .. } => self.run.target.load(Ordering::Relaxed),
            _ => 1,
        };
        let fewer = |now: usize| (now > least).then(|| now - 1);
        if self.run.workers.fetch_update(Ordering::SeqCst, Ordering::Relaxed, fewer).is_err() {
            return false;
        }
        // Against the fence in the poke of a source: either we see it held, or its holder sees that it is alone.
        #[cfg(not(mutant = "no_fence_on_leaving"))]
        fence(Ordering::SeqCst);
        let mut stations = self.line.stations();
        let is_held = stations.any(|station| station.own.is_none() && station.node.is_held());
        if cfg!(not(mutant = "leaves_whatever_is_left")) && is_held && self.look() {
            self.run.workers.fetch_add(1, Ordering::SeqCst);
            return false;
        }
        true
    }

    /// Does the first thing that it finds, from the sink to the source (rule 8). Says whether there was any.
    fn step(&mut self) -> bool {
        let line = self.line;
        for at in (0..line.places.len()).rev() {
            let worked = match &line.places[at] {
                Place::Serial(station) => station.is_open() && self.serve(at),
                Place::Parallel(farm) => farm.hop.is_ready() && self.carry(at, farm),
            };
            if worked {
                return true;
            }
        }
        false
    }

    /// Claims items of the parallel unit at `at`, carries them across, and pokes the serial node behind it (rules 4 and 5).
    fn carry(&mut self, at: usize, farm: &Farm<'env>) -> bool {
        let (line, run) = (self.line, self.run);
        let elsewhere = move || run.is_done() || line.ready_from(0).next().is_some();
        let (Some(before), Some(behind)) = (line.station(farm.before), line.station(farm.behind)) else {
            unreachable!("the neighbours of a parallel unit are serial")
        };
        let carrier = self.carriers[at].as_mut().expect("a parallel unit has a carrier");
        if !carrier.carry(before, self.window, &elsewhere) {
            return false;
        }
        if cfg!(mutant = "claim_pokes_behind_a_hint") && !behind.node.is_ready() {
            return true;
        }
        #[cfg(not(mutant = "no_poke_after_claim"))]
        self.serve(farm.behind);
        true
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
            if now < self.noted + NOTE_NS { (2 * self.pace).min(NOTE_STEPS) } else { self.pace.div_ceil(2) };
        self.noted = now;
        self.note(measures, now);
    }

    fn note(&self, measures: &Measures, now: u64) {
        if let Some(mut waiting) = measures.try_waiting() {
            waiting.note(now, self.line.standings().map(|standing| (standing.id, standing.waiting)));
        }
    }

    /// Pokes the serial node at `at`, and the serial nodes that take what it gives as long as there was work (rule 5).
    fn serve(&self, at: usize) -> bool {
        let (line, run) = (self.line, self.run);
        let station = line.station(at).expect("a serial node is served");
        let poked = match &station.own {
            Some(own) => {
                own.notify();
                Poked::Elsewhere
            }
            // Not for what comes before it: that gives way to this one.
            None => station.node.poke(&|| run.is_done() || line.ready_from(at + 1).next().is_some()),
        };
        let worked = poked == Poked::Worked;
        // A pull is followed by a walk from the sink: what it has made possible may be anywhere.
        if worked && !station.is_source && cfg!(not(mutant = "no_poke_of_neighbour")) {
            for behind in line.behind(at) {
                if line.station(behind).is_some() {
                    self.serve(behind);
                }
            }
        }
        worked
    }

    /// Whether there is anything to do. Only looks.
    fn look(&self) -> bool {
        self.run.is_done() || self.line.ready_from(0).next().is_some()
    }

    /// Waits until there may be something to do.
    fn idle(&mut self) {
        let began = Moment::now();
        // While a worker idles nobody looks at the lanes, so it notes what waits when it begins and when it ends.
        if let Some(measures) = self.run.measures() {
            self.note(measures, measures.now());
        }
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
            if passes_on && self.line.ready_from(0).nth(1).is_some() {
                self.run.event.notify();
            }
        }
        let waited = began.elapsed();
        self.wait = (3 * self.wait + waited) / 4;
        if let Some(measures) = self.run.measures() {
            measures.idled(began, waited);
            if let Some(mut waiting) = measures.try_waiting() {
                let standings = self.line.standings().map(|standing| (standing.id, standing.waiting));
                waiting.note_and_take(measures.now(), standings);
            }
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
        let most = if self.run.is_crowded { SPIN_CROWDED_NS } else { SPIN_NS };
        let limit = if self.vain >= SPINS_IN_VAIN { SPIN_IN_VAIN_NS } else { most.min(2 * self.wait) };
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
                run.halt(Position::END, Cause::Panic(payload));
            }
        }
    }
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
