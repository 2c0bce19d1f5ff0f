//! A worker walks a line from its sink to its source and does the work that it finds (rules 8, 9 and 11).

use anabranch_record::WaitKey;
use anabranch_record::mutant::Mutant;
use anabranch_record::pool::{JobContext, JobHandle, TaskContext};
use anabranch_record::sync::{Ordering, fence};

use crate::clock::Moment;
use crate::engine::build::line::{Line, ParallelUnit, Place, PlaceUnit};
use crate::engine::nodes::claims::QUICK_SOURCE_NS;
use crate::engine::nodes::node::{Carrier, Poked, SerialUnit};
use crate::engine::state::failure::{Cause, Position, caught_drop};
use crate::engine::state::run::Run;
use crate::measures::Measures;

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const NO_FENCE_ON_LEAVING: Mutant = Mutant("no_fence_on_leaving");
const NO_POKE_AFTER_CLAIM: Mutant = Mutant("no_poke_after_claim");
const STARTS_NO_WORKER: Mutant = Mutant("starts_no_worker");
const LEAVES_WHATEVER_IS_LEFT: Mutant = Mutant("leaves_whatever_is_left");
const NO_POKE_OF_NEIGHBOUR: Mutant = Mutant("no_poke_of_neighbour");
const NO_LAST_LOOK: Mutant = Mutant("no_last_look");
const NO_LOOK_AFTER_SERVE: Mutant = Mutant("no_look_after_serve");
const NO_PASSING_ON: Mutant = Mutant("no_passing_on");
const CLAIM_POKES_BEHIND_A_HINT: Mutant = Mutant("claim_pokes_behind_a_hint");

/// After this many steps without being idle, a worker makes the event of the run light: notifications then need no fence. The
/// next worker that parks takes about 10 µs longer for it, which is about as long as the fences of 256 items take.
const LIGHT_AFTER_STEPS: u32 = if cfg!(shuttle) { 2 } else { 256 };

/// The caller of a run on a pool calls helpers once it has worked this many nanoseconds without a pause.
const CALL_HELPERS_NS: u64 = 5_000;

/// A caller that has not called helpers yet reads the clock once in this many steps.
const CALL_HELPERS_STEPS: u32 = 4;

/// The parts of a run that its threads need in addition to the line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunContext<'r> {
    pub(crate) run: &'r Run,
    /// The widest window of the plan's domains, in items.
    pub(crate) window: u64,
    /// The prefix of the threads' names.
    pub(crate) name: &'r str,
}

/// The origin of a worker's thread. This decides when the worker may leave, and how it gets more workers.
#[derive(Clone, Copy)]
pub(crate) enum Origin<'l> {
    /// The thread that called the run. It stays until the run is over. `handle` calls helpers from a pool, and
    /// `more` spawns one helper.
    Caller { handle: Option<&'l JobHandle<'l>>, more: Option<&'l dyn Fn()> },
    /// A thread that was spawned for this run. `more` spawns another one.
    Helper { more: &'l dyn Fn() },
    /// A thread of a pool.
    Job(&'l JobContext<'l>),
    /// A thread of a pool that attends a detached run.
    Slot(&'l WorkerSlot<'l>),
}

/// A slot of a detached run (rule 19).
pub(crate) struct WorkerSlot<'s> {
    pub(crate) task: &'s TaskContext<'s>,
    /// Vacates the slot, unless a notification has come since the key was made. Returns whether it did.
    pub(crate) vacate: &'s dyn Fn(WaitKey) -> bool,
    /// Whether a notification has brought the thread to the slot.
    pub(crate) was_recalled: bool,
}

/// How a worker's walk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WalkEnd {
    /// The run is over.
    Done,
    /// The run had too many workers, or another run wanted this one.
    Away,
    /// The worker found no work, and has vacated its slot.
    Vacant,
}

/// One thread's walk along a line. It lies on cache lines of its own, as the line does.
#[repr(align(128))]
pub(crate) struct Worker<'l, 'env> {
    line: &'l Line<'env>,
    run: &'l Run,
    origin: Origin<'l>,
    /// When the current stretch of work without a pause began. After helpers were called, it stays as it was. At a slot it is
    /// the time at which the thread took the slot.
    began: Moment,
    /// For each place of the line, this worker's side of the parallel unit there. `None` at a serial unit.
    carriers: Vec<Option<Box<dyn Carrier + 'l>>>,
    /// The widest window of the plan's domains, in items.
    window: u64,
    /// The place of the slow source that the last step pulled from. `None` if the last step did something else.
    pulled: Option<usize>,
    /// Whether this was the only worker when its walk began. No other worker can have left work behind since
    /// then.
    walks_alone: bool,
    /// Whether the worker has called helpers, or never needs to.
    has_called: bool,
    /// How many steps the worker has taken alone.
    steps: u32,
    /// When the worker last noted how many items wait, in nanoseconds since the run began.
    noted: u64,
    /// How many steps the worker takes from one note to the next.
    pace: u32,
    /// How many steps the worker has taken since the last note.
    unnoted: u32,
    /// How many steps the worker has taken since it was last idle, up to [`LIGHT_AFTER_STEPS`].
    steps_since_idle: u32,
}

/// A worker of a detached run that has worked this many nanoseconds leaves when other runs wait for a thread.
const TASK_NS: u64 = 1_000_000;

/// The time between two notes of how many items wait, in nanoseconds. A worker whose steps take longer notes
/// it after each step.
const NOTE_NS: u64 = 50_000;
/// The largest number of steps between two such notes.
const NOTE_STEPS: u32 = 64;

impl<'l, 'env> Worker<'l, 'env> {
    pub(crate) fn new(line: &'l Line<'env>, context: RunContext<'l>, origin: Origin<'l>) -> Self {
        let carrier = |place: &'l Place<'env>| match &place.unit {
            PlaceUnit::Serial(_) => None,
            PlaceUnit::Parallel(unit) => Some(unit.hop.carrier()),
        };
        let carriers = line.places.iter().map(carrier).collect();
        let RunContext { run, window, .. } = context;
        let has_called =
            !matches!(origin, Origin::Caller { handle: Some(handle), .. } if !handle.is_called());
        Self {
            line,
            run,
            origin,
            began: Moment::now(),
            carriers,
            window,
            pulled: None,
            walks_alone: false,
            has_called,
            steps: 0,
            noted: 0,
            pace: 1,
            unnoted: 0,
            steps_since_idle: 0,
        }
    }

    /// Works until the run is over, or until this worker is to leave it.
    pub(crate) fn work(mut self) -> WalkEnd {
        let _track = self.run.measures().map(Measures::on_track);
        if let Some(feed) = &self.run.feed {
            feed.enter();
        }
        if let Origin::Slot(WorkerSlot { was_recalled: true, .. }) = self.origin {
            self.pass_on();
        }
        let left = loop {
            self.run.end_if_forked();
            if self.run.is_done() {
                break WalkEnd::Done;
            }
            if self.is_too_many() && self.gets_away() {
                break WalkEnd::Away;
            }
            if self.is_staffed() && self.step() {
                self.call_helpers();
                self.note_step();
                if let Some(measures) = self.run.measures() {
                    self.note_waiting(measures);
                }
            } else if let Origin::Job(job) = self.origin
                && job.is_wanted_elsewhere()
                && self.gets_away()
            {
                job.close_behind();
                self.run.was_left.store(true, Ordering::Relaxed);
                break WalkEnd::Away;
            } else if self.idle() {
                break WalkEnd::Vacant;
            }
        };
        // A notification may have woken this worker in place of another one. If there is work, this worker wakes
        // another one before it leaves (rule 9). A slot that is left for another run is taken again.
        if !matches!(self.origin, Origin::Slot(_)) && left == WalkEnd::Away && self.look() {
            self.run.event.notify();
        }
        if let Some(feed) = &self.run.feed {
            feed.leave();
        }
        self.drop_carriers();
        left
    }

    /// Makes the notifications of the run cheap once the worker has found work for a while (rule 10). A run with a feed
    /// is left out, because the threads that post have a protocol of their own.
    #[inline]
    fn note_step(&mut self) {
        if self.steps_since_idle < LIGHT_AFTER_STEPS {
            self.steps_since_idle += 1;
            if self.steps_since_idle == LIGHT_AFTER_STEPS && self.run.feed.is_none() {
                self.run.event.make_light();
            }
        }
    }

    /// Calls the helpers of a pool once the run has lasted long enough to be worth it, and again after the
    /// last helper has left. The worker reads the clock only every few steps; an item takes two steps or
    /// more.
    #[inline]
    fn call_helpers(&mut self) {
        let Origin::Caller { handle: Some(handle), .. } = self.origin else { return };
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
                handle.call();
            }
        }
    }

    /// Starts another worker if there is work, no worker is idle, and there are fewer workers than there should be
    /// (rule 21). Returns whether this worker may take a step: if there is no work to start another worker for, there is
    /// none for this one either.
    #[inline]
    fn is_staffed(&self) -> bool {
        let (Origin::Caller { more: Some(more), .. } | Origin::Helper { more }) = self.origin else {
            return true;
        };
        let run = self.run;
        let now = run.workers.load(Ordering::Relaxed);
        if now >= run.target.load(Ordering::Relaxed) || run.has_idle_worker() {
            return true;
        }
        if !self.look() {
            return false;
        }
        if !STARTS_NO_WORKER.is_on()
            && run.workers.compare_exchange(now, now + 1, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        {
            more();
        }
        true
    }

    /// Whether this worker should leave the run: because the run has more workers than were set, because the pool has
    /// other callers, or because another detached run waits for a thread.
    fn is_too_many(&self) -> bool {
        let target = self.run.target.load(Ordering::Relaxed);
        match self.origin {
            Origin::Job(job) => job.is_oversubscribed(),
            Origin::Slot(slot) => {
                self.steps_since_idle > 0
                    && slot.task.is_wanted_elsewhere()
                    && (cfg!(any(loom, shuttle)) || self.began.elapsed() >= TASK_NS)
            }
            Origin::Helper { .. } => self.run.workers.load(Ordering::Relaxed) > target,
            _ => false,
        }
    }

    /// Takes this worker out of the count of workers, if it may leave. Returns whether it may.
    ///
    /// It must stay if it finds work while another worker holds a source. That worker may block in the
    /// source, and then nobody would do the work.
    fn gets_away(&self) -> bool {
        let least = match self.origin {
            // Another thread will come to the slot.
            Origin::Slot(_) => return true,
            Origin::Helper { .. } => self.run.target.load(Ordering::Relaxed),
            _ => 1,
        };
        let fewer = |now: usize| (now > least).then(|| now - 1);
        if self.run.workers.fetch_update(Ordering::SeqCst, Ordering::Relaxed, fewer).is_err() {
            return false;
        }
        // All that was published without a fence is visible from here on (rule 10).
        self.run.event.settle();
        // Pairs with the fence in the poke of a source: either this worker sees that the source is held, or
        // the holder of the source sees that it is alone (rule 16).
        if !NO_FENCE_ON_LEAVING.is_on() {
            fence(Ordering::SeqCst);
        }
        let mut units = self.line.serial_units();
        let is_held = units.any(|unit| unit.own.is_none() && unit.node.is_held());
        if !LEAVES_WHATEVER_IS_LEFT.is_on() && is_held && self.look() {
            self.run.workers.fetch_add(1, Ordering::SeqCst);
            return false;
        }
        true
    }

    /// Does the first work that it finds, from the sink to the source (rule 8). Returns whether it found any.
    fn step(&mut self) -> bool {
        let line = self.line;
        self.walks_alone = false;
        // The last item has notified a worker that sleeps, and that worker will take it. This one asks the
        // slow source for the next item meanwhile (rule 8).
        if let Some(source) = self.pulled.take()
            && self.run.event.sleepers() > 0
            && self.serve(source)
        {
            self.pulled = Some(source);
            return true;
        }
        self.walks_alone = self.run.is_alone();
        for at in (0..line.places.len()).rev() {
            let worked = match &line.places[at].unit {
                PlaceUnit::Serial(unit) => unit.is_open() && self.serve(at),
                PlaceUnit::Parallel(unit) => unit.hop.is_ready() && self.carry(at, unit),
            };
            if worked {
                let waits = !matches!(self.origin, Origin::Slot(_));
                let unit = line.serial_unit(at).filter(|unit| unit.is_source && waits);
                self.pulled = unit.filter(|source| source.node.mean_ns() >= QUICK_SOURCE_NS).map(|_| at);
                return true;
            }
        }
        false
    }

    /// Claims items of the parallel unit at `at`, carries them across it, and pokes the serial node behind it
    /// (rules 4 and 5). Returns whether it claimed any.
    fn carry(&mut self, at: usize, unit: &ParallelUnit<'env>) -> bool {
        let (line, run) = (self.line, self.run);
        let elsewhere = move || run.is_done() || line.ready_from(0).next().is_some();
        let (Some(before), Some(behind)) = (line.serial_unit(unit.before), line.serial_unit(unit.behind))
        else {
            unreachable!("the neighbours of a parallel unit are serial")
        };
        let carrier = self.carriers[at].as_mut().expect("a parallel unit has a carrier");
        if !carrier.carry(before, self.window, &elsewhere) {
            return false;
        }
        if CLAIM_POKES_BEHIND_A_HINT.is_on() && !behind.node.is_ready() {
            return true;
        }
        if !NO_POKE_AFTER_CLAIM.is_on() {
            self.serve(unit.behind);
        }
        true
    }

    /// Notes how many items wait before each node, if it is time for a note. To be called once a step.
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

    /// Pokes the serial node at `at`. If it worked, pokes the serial nodes that it gives items to, in the
    /// same way (rule 5). Returns whether the node at `at` worked.
    fn serve(&self, at: usize) -> bool {
        let (line, run) = (self.line, self.run);
        let unit = line.serial_unit(at).expect("a serial node is served");
        let poked = match &unit.own {
            Some(own) => {
                own.notify();
                Poked::Elsewhere
            }
            // Only work nearer to the sink counts here, because it is done before the work of this node. Work nearer to the
            // source is done after it.
            None => unit
                .node
                .poke(&|| !self.walks_alone && (run.is_done() || line.ready_from(at + 1).next().is_some())),
        };
        let worked = poked == Poked::Worked;
        // After a pull the worker walks from the sink again, so a source pokes no neighbour.
        if worked && !unit.is_source && !NO_POKE_OF_NEIGHBOUR.is_on() {
            for behind in line.behind(at) {
                if line.serial_unit(behind).is_some() {
                    self.serve(behind);
                }
            }
        }
        worked
    }

    /// Whether there is work, or the run is over. Only looks.
    fn look(&self) -> bool {
        self.run.is_done() || self.line.ready_from(0).next().is_some()
    }

    /// Waits until there may be something to do. In a detached run it vacates the slot instead, and returns `true`.
    fn idle(&mut self) -> bool {
        self.steps_since_idle = 0;
        let began = Moment::now();
        // An idle worker does not look at the lanes. So it notes how many items wait when it becomes idle,
        // and again when it stops being idle.
        if let Some(measures) = self.run.measures() {
            self.note(measures, measures.now());
        }
        if !self.spin() {
            let key = self.run.event.prepare();
            if !NO_LAST_LOOK.is_on() && self.look() {
                self.run.event.leave();
            } else {
                match (&self.run.feed, self.origin) {
                    (_, Origin::Slot(slot)) => {
                        if (slot.vacate)(key) {
                            return true;
                        }
                    }
                    (None, _) => self.run.event.wait(key),
                    (Some(feed), _) => feed.wait(key, &|| self.look(), &|| any_work(self.line, self.run)),
                }
            }
            self.pass_on();
        }
        let waited = began.elapsed();
        if let Some(measures) = self.run.measures() {
            measures.idled(began, waited);
            if let Some(mut waiting) = measures.try_waiting() {
                let standings = self.line.standings().map(|standing| (standing.id, standing.waiting));
                waiting.note_and_take(measures.now(), standings);
            }
        }
        if !self.has_called {
            // Only work without a pause shows that helpers would be of use, so the time starts again.
            self.began = Moment::now();
        }
        false
    }

    /// Wakes another worker if a second place is ready. The notification that woke this worker has woken no other, and
    /// this worker does one piece of work (rule 9). One parallel unit with many items is one place: the worker that
    /// claims from it wakes the next. (The other two mutants leave this notification out as well, because it would hide
    /// their effect.)
    fn pass_on(&self) {
        let passes_on =
            !(NO_PASSING_ON.is_on() || NO_LOOK_AFTER_SERVE.is_on() || NO_POKE_OF_NEIGHBOUR.is_on());
        if passes_on && self.line.ready_from(0).nth(1).is_some() {
            self.run.event.notify();
        }
    }

    /// Polls for a while, if no other worker of the run does (rule 11). Returns whether it found work.
    fn spin(&self) -> bool {
        let task = if let Origin::Slot(slot) = self.origin { Some(slot.task) } else { None };
        let has_work = || match self.look() {
            true => Some(true),
            false if task.is_some_and(|task| task.is_wanted_elsewhere()) => Some(false),
            false => None,
        };
        self.run.backoff.poll(self.run.polling, has_work) == Some(true)
    }

    /// Drops the carriers, and the states in them, on the thread that made them.
    fn drop_carriers(self) {
        let Self { carriers, run, .. } = self;
        for carrier in carriers {
            if let Err(payload) = caught_drop(carrier) {
                run.halt(Position::END, Cause::Panic(payload));
                // A worker may leave long before the end, and nothing else would end the run.
                run.finish();
            }
        }
    }
}

/// Whether there is work for any thread of the run, or the run is over. Only looks.
fn any_work(line: &Line<'_>, run: &Run) -> bool {
    let is_ready = |unit: &SerialUnit<'_>| unit.own.is_some() && unit.node.is_ready();
    run.is_done() || line.ready_from(0).next().is_some() || line.serial_units().any(is_ready)
}

/// The loop of a dedicated thread. It runs one serial node, and waits at that node's own event.
pub(crate) fn attend(unit: &SerialUnit<'_>, line: &Line<'_>, run: &Run) {
    let own = unit.own.as_ref().expect("a dedicated node has an event");
    let _track = run.measures().map(Measures::on_track);
    if let Some(feed) = &run.feed {
        feed.enter();
    }
    while !run.is_done() {
        run.end_if_forked();
        if unit.node.poke(&|| false) == Poked::Worked {
            continue;
        }
        let key = own.prepare();
        if unit.node.is_ready() || run.is_done() {
            own.leave();
        } else {
            let began = Moment::now();
            match &run.feed {
                None => own.wait(key),
                Some(feed) => feed.wait_at(own, key, &|| any_work(line, run)),
            }
            if let Some(measures) = run.measures() {
                measures.idled(began, began.elapsed());
            }
        }
    }
    if let Some(feed) = &run.feed {
        feed.leave();
    }
}
