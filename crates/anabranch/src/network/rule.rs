//! Firing rules: what one does when its turn comes, and how it gets its turn.

use std::fmt;
use std::ops::ControlFlow;

use anabranch_record::sync::{Arc, AtomicBool, Ordering};

use super::{
    hub::Hub,
    ports::{PortInfo, Ports, Readiness},
    process::{Process, Wait},
    worker,
};

/// A rule as its records know it.
pub struct RuleLink {
    pub(super) index: usize,
    pub(super) hub: Arc<Hub>,
    /// It waits in a queue for a worker.
    queued: AtomicBool,
}

impl fmt::Debug for RuleLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuleLink").field("index", &self.index).finish_non_exhaustive()
    }
}

impl RuleLink {
    pub(super) fn new(index: usize, hub: &Arc<Hub>) -> Arc<Self> {
        Arc::new(Self { index, hub: Arc::clone(hub), queued: AtomicBool::new(false) })
    }

    /// Has the rule looked at by a worker. A poke while it waits for one is that one's, too: the exchanges see to it
    /// that the worker sees what was done before.
    #[inline]
    pub(super) fn poke(&self) {
        if !self.queued.swap(true, Ordering::AcqRel) {
            worker::enqueue(&self.hub, self.index);
        }
    }

    /// As [`poke`](Self::poke), behind all others.
    pub(super) fn poke_last(&self) {
        if !self.queued.swap(true, Ordering::AcqRel) {
            worker::enqueue_last(&self.hub, self.index);
        }
    }

    /// A worker has taken it out of the queue and looks at it after this.
    #[inline]
    pub(super) fn dequeued(&self) {
        #[cfg(not(mutant = "rule_is_dequeued_late"))]
        self.queued.swap(false, Ordering::AcqRel);
    }

    /// The mutant's place for it: after the look.
    #[inline]
    pub(super) fn looked(&self) {
        #[cfg(mutant = "rule_is_dequeued_late")]
        self.queued.swap(false, Ordering::AcqRel);
    }
}

/// What a firing says of the firings after it: `()`, or a [`ControlFlow`] whose `Break` ends the rule. The firing that
/// breaks counts for nothing: it commits nothing and consumes nothing.
pub trait Verdict {
    #[doc(hidden)]
    fn is_last(&self) -> bool;
}

impl Verdict for () {
    fn is_last(&self) -> bool {
        false
    }
}

impl Verdict for ControlFlow<()> {
    fn is_last(&self) -> bool {
        self.is_break()
    }
}

/// What a rule did when its turn came.
pub(super) enum Step<E> {
    /// It fired until a port made it wait, and has announced that there.
    Idle,
    /// It could fire on.
    Again,
    /// It has ended.
    Over(Result<(), E>),
    /// It does not keep its rates.
    Misuse(String),
}

/// A rule, whatever its ports and code.
pub(super) trait Fire<E>: Send {
    /// Fires up to `budget` times.
    fn step(&mut self, budget: usize) -> Step<E>;
    /// What it waits for, if it does.
    fn wait(&self) -> Option<Wait>;
    fn describe(&self) -> Vec<PortInfo>;
    fn set_alone(&mut self, is_inner: &dyn Fn(&super::records::RecordInfo) -> bool);
    /// It ends: notes on `process` which other sides are closed.
    fn notice(&self, process: &Process);
}

/// A rule's ports and code.
pub(super) struct Body<I, O, F> {
    inputs: I,
    outputs: O,
    code: F,
    /// The port that has announced a wait, the outputs after the inputs.
    waits: Option<usize>,
}

impl<I: Ports, O: Ports, F> Body<I, O, F> {
    pub(super) fn new(
        mut inputs: I,
        mut outputs: O,
        code: F,
        process: &Process,
        link: &Arc<RuleLink>,
    ) -> Self {
        inputs.attach(process, link);
        outputs.attach(process, link);
        Self { inputs, outputs, code, waits: None }
    }

    #[inline]
    fn readiness(&mut self) -> Readiness {
        let inputs = self.inputs.readiness();
        inputs.and(self.outputs.readiness(), self.inputs.count())
    }

    #[inline]
    fn announce(&mut self, port: usize) {
        match port.checked_sub(self.inputs.count()) {
            None => self.inputs.announce(port),
            Some(port) => self.outputs.announce(port),
        }
        self.waits = Some(port);
    }

    #[inline]
    fn withdraw(&mut self) {
        if let Some(port) = self.waits.take() {
            match port.checked_sub(self.inputs.count()) {
                None => self.inputs.withdraw(port),
                Some(port) => self.outputs.withdraw(port),
            }
        }
    }
}

impl<E, V, I, O, F> Fire<E> for Body<I, O, F>
where
    V: Verdict,
    I: Ports + Send,
    O: Ports + Send,
    F: for<'a> FnMut(&mut I::Bursts<'a>, &mut O::Bursts<'a>) -> Result<V, E> + Send,
{
    fn step(&mut self, budget: usize) -> Step<E> {
        self.withdraw();
        let mut fired = 0;
        loop {
            match self.readiness() {
                Readiness::Ready if fired == budget => return Step::Again,
                Readiness::Ready => {}
                Readiness::Ended => return Step::Over(Ok(())),
                Readiness::Waits(port) => {
                    self.announce(port);
                    // What came before the announcement knocked at no door.
                    if cfg!(not(mutant = "rule_does_not_look_again"))
                        && self.readiness() != Readiness::Waits(port)
                    {
                        self.withdraw();
                        continue;
                    }
                    return Step::Idle;
                }
            }
            fired += 1;
            let (mut inputs, mut outputs) = (self.inputs.open(), self.outputs.open());
            match (self.code)(&mut inputs, &mut outputs) {
                Ok(verdict) if verdict.is_last() => return Step::Over(Ok(())),
                Ok(_) => {}
                Err(error) => return Step::Over(Err(error)),
            }
            if let Err(complaint) = O::close(outputs).and_then(|()| I::close(inputs)) {
                return Step::Misuse(complaint);
            }
        }
    }

    fn wait(&self) -> Option<Wait> {
        let port = self.waits?;
        match port.checked_sub(self.inputs.count()) {
            None => self.inputs.wait(port),
            Some(port) => self.outputs.wait(port),
        }
    }

    fn describe(&self) -> Vec<PortInfo> {
        let mut ports = Vec::new();
        self.inputs.describe(&mut ports);
        self.outputs.describe(&mut ports);
        ports
    }

    fn set_alone(&mut self, is_inner: &dyn Fn(&super::records::RecordInfo) -> bool) {
        self.outputs.set_alone(is_inner);
    }

    fn notice(&self, process: &Process) {
        self.inputs.notice(process);
        self.outputs.notice(process);
    }
}
