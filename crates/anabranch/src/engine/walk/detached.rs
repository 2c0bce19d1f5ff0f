//! Detached runs: they have no calling thread, and the threads of a pool attend them (rule 19).
//!
//! A detached run has a slot for each of its workers. A thread that takes a slot walks the line, as any worker does. When it
//! finds no work it does not park: it vacates the slot, and a notification that would have woken it sends a task to the
//! pool instead, which brings some thread back to the slot. A run with vacant slots only takes no thread at all.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc as StdArc, Mutex, PoisonError};

use anabranch_plan::Plan;
use anabranch_record::WaitKey;
use anabranch_record::fork;
use anabranch_record::mutant::Mutant;
use anabranch_record::pool::{Dispatcher, TaskContext};
use anabranch_record::sync::Arc;

use super::worker::{Origin, RunContext, WalkEnd, Worker, WorkerSlot};
use crate::engine::build::assembly::Assembly;
use crate::engine::build::line::Line;
use crate::engine::nodes::head::ResultQueue;
use crate::engine::state::failure::{Cause, Position, discard};
use crate::engine::state::run::Run;

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const RECALLED_WITHOUT_LEAVING: Mutant = Mutant("recalled_without_leaving");

/// The parts of a detached run that are neither its plan nor its code.
pub(crate) struct DetachedParts {
    /// Sends tasks to the pool that attends the run. The pool must live until `over` was called.
    pub(crate) dispatcher: Dispatcher,
    pub(crate) queue: StdArc<dyn ResultQueue>,
    /// The largest number of items that the source gives, if it is known.
    pub(crate) most: Option<usize>,
    /// Called once when the run is over and its line was dropped, with the number of items that were pulled. The last thread
    /// that leaves the run calls it.
    pub(crate) over: Box<dyn FnOnce(u64) + Send>,
}

/// A run that the threads of a pool attend.
pub(crate) struct Detached {
    /// `None` once a thread has seen that the run is over. Each thread that attends the run has a share, and the last one that
    /// gives its share up ends the run.
    body: Mutex<Option<StdArc<Body>>>,
    dispatcher: Dispatcher,
}

struct Body {
    line: Line<'static>,
    run: Arc<Run>,
    /// The widest window of the plan's domains, in items.
    window: u64,
    over: Mutex<Box<dyn FnOnce(u64) + Send>>,
}

/// Makes a line of `plan` and of the nodes that `code` connects, and lets the pool attend it from now on.
pub(crate) fn detach(
    run: &Arc<Run>,
    plan: Plan,
    parts: DetachedParts,
    code: impl FnOnce(&mut Assembly<'static>),
) {
    let DetachedParts { dispatcher, queue, most, over } = parts;
    let mut assembly = Assembly::new(Arc::clone(run), plan, Vec::new(), most);
    assembly.queue = Some(queue);
    code(&mut assembly);
    let (line, plan) = assembly.finish();
    let window = plan.domains.iter().map(|domain| domain.window).max().unwrap_or(1) as u64;
    let body = Body { line, run: Arc::clone(run), window, over: Mutex::new(over) };
    let detached = StdArc::new(Detached { body: Mutex::new(Some(StdArc::new(body))), dispatcher });
    // The first thread works. The other slots are vacant until there is work for them.
    for _ in 1..plan.settings.workers.min(detached.dispatcher.threads()) {
        while !detached.vacate(run, run.event.prepare()) {}
    }
    detached.send(false);
}

impl Detached {
    fn body(&self) -> std::sync::MutexGuard<'_, Option<StdArc<Body>>> {
        fork::lock(&self.body)
    }

    /// Sends for a thread that takes a slot. `was_recalled` says whether the slot was vacated, so that the event counts it.
    fn send(self: &StdArc<Self>, was_recalled: bool) {
        let detached = StdArc::clone(self);
        self.dispatcher.send(Box::new(move |task| detached.attend(task, was_recalled)));
    }

    /// Vacates a slot, unless a notification has come since `key` was made.
    fn vacate(self: &StdArc<Self>, run: &Run, key: WaitKey) -> bool {
        let detached = StdArc::clone(self);
        run.event.vacate(key, Box::new(move || detached.send(true)))
    }

    /// Takes a slot, and works there until there is no work or other runs wait for a thread.
    fn attend(self: StdArc<Self>, task: &TaskContext<'_>, was_recalled: bool) {
        // A task may come late, when the run is over.
        let Some(body) = self.body().clone() else { return };
        let left = self.work(&body, task, was_recalled);
        let shares = match left {
            WalkEnd::Away => {
                self.send(false);
                [None, Some(body)]
            }
            WalkEnd::Vacant => [None, Some(body)],
            WalkEnd::Done => [self.body().take(), Some(body)],
        };
        for share in shares.into_iter().flatten() {
            if let Some(body) = StdArc::into_inner(share) {
                // User code in it is guarded, except for the waker of a reader, whose panic nobody could be given.
                discard(catch_unwind(AssertUnwindSafe(|| body.end())));
            }
        }
    }

    fn work(self: &StdArc<Self>, body: &Body, task: &TaskContext<'_>, was_recalled: bool) -> WalkEnd {
        let Body { line, run, window, .. } = body;
        let _entered = run.spans().enter_run();
        if was_recalled && !RECALLED_WITHOUT_LEAVING.is_on() {
            run.event.leave();
        }
        let vacate = |key| self.vacate(run, key);
        let slot = WorkerSlot { task, vacate: &vacate, was_recalled };
        let context = RunContext { run, window: *window, name: "" };
        let worked =
            catch_unwind(AssertUnwindSafe(|| Worker::new(line, context, Origin::Slot(&slot)).work()));
        worked.unwrap_or_else(|payload| {
            run.halt(Position::END, Cause::Panic(payload));
            run.finish();
            WalkEnd::Done
        })
    }
}

impl Body {
    fn end(self) {
        let Body { line, run, over, .. } = self;
        let pulled = line.pulled();
        run.drop_leftovers(line);
        over.into_inner().unwrap_or_else(PoisonError::into_inner)(pulled);
    }
}
