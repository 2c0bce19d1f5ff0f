//! Firing rules: how a worker fires a rule.

use std::ops::ControlFlow;

use anabranch_record::mutant::Mutant;
use anabranch_record::sync::Arc;

use super::{
    ports::{PortInfo, Ports, Readiness},
    process::Process,
    queue::{Giving, RuleLink},
    records::{RecordInfo, Wait},
    state::NetworkState,
};

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const RULE_DOES_NOT_LOOK_AGAIN: Mutant = Mutant("rule_does_not_look_again");

/// The result of a firing: `()`, or a [`ControlFlow`] whose `Break` ends the rule. A firing that breaks has
/// no effect on the records: it commits nothing and consumes nothing.
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

/// The outcome of a rule's turn with a worker.
pub(super) enum Step<E> {
    /// The rule has fired until a port had to wait. The wait is announced at that port.
    Idle,
    /// The rule has used up its firings, and could fire again.
    Again,
    /// The rule has ended.
    Over(Result<(), E>),
    /// The rule has not kept its rates. The message says how.
    Misuse(String),
}

/// A rule with ports and code of any type.
pub(super) trait Fire<E>: Send {
    /// Fires up to `budget` times. `shared` is the network, unless one thread alone runs the network.
    fn step(&mut self, budget: usize, shared: Option<&NetworkState>) -> Step<E>;
    /// The items or the room that the rule waits for, if it waits.
    fn wait(&self) -> Option<Wait>;
    /// A description of each port.
    fn describe(&self) -> Vec<PortInfo>;
    /// Says that one thread alone runs the rules at both ends of every record for which `is_inner` is true.
    fn set_alone(&mut self, is_inner: &dyn Fn(&RecordInfo) -> bool);
    /// Notes on `process`, whose rule ends, which records are closed on the other side.
    fn notice(&self, process: &Process);
}

/// A rule's ports and code.
pub(super) struct Body<I, O, F> {
    inputs: I,
    outputs: O,
    code: F,
    /// The number of the port that has announced a wait. Outputs are numbered after inputs.
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
        // A rule that waits for items is like a process that does: it does not ask who reads its outputs.
        if let Readiness::Waits(_) | Readiness::Ended = inputs {
            return inputs;
        }
        match self.outputs.readiness() {
            Readiness::Unread if self.outputs.count() > 0 => Readiness::Ended,
            outputs => inputs.and(outputs, self.inputs.count()),
        }
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
    fn step(&mut self, budget: usize, shared: Option<&NetworkState>) -> Step<E> {
        self.withdraw();
        let (mut fired, mut giving) = (0, Giving::default());
        loop {
            match self.readiness() {
                Readiness::Ready | Readiness::Unread if fired == budget => return Step::Again,
                Readiness::Ready | Readiness::Unread if fired > 0 => {
                    if let Some(network) = shared {
                        giving.between_firings(network);
                    }
                }
                Readiness::Ready | Readiness::Unread => {}
                Readiness::Ended => return Step::Over(Ok(())),
                Readiness::Waits(port) => {
                    self.announce(port);
                    // Items or room that came before the announcement have called no hook, so the rule looks
                    // again.
                    if shared.is_some()
                        && !RULE_DOES_NOT_LOOK_AGAIN.is_on()
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

    fn set_alone(&mut self, is_inner: &dyn Fn(&RecordInfo) -> bool) {
        self.outputs.set_alone(is_inner);
    }

    fn notice(&self, process: &Process) {
        self.inputs.notice(process);
        self.outputs.notice(process);
    }
}
