//! From a stream to its plan, and to a run.

use std::convert::Infallible;
use std::panic::resume_unwind;

use anabranch_plan::{ItemType, Node, Plan};
use anabranch_record::sync::Arc;

use super::Stream;
use crate::engine::{self, Assembly, ErrorSlot, InlineEnd, InlineSink, NodeSpec, Outcome, Run};
use crate::flow::Mode;
use crate::report::Report;
use crate::serial::Serial;
use crate::unit::{Apply, Unit};

/// What a run came to.
pub(super) struct Ended<E> {
    pub(super) result: Result<(), E>,
    pub(super) report: Option<Report>,
}

impl<'env, U: Unit, M: Mode> Stream<'env, U, M> {
    /// The plan of this stream, which would run if an end followed. Nothing runs.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let plan = Stream::from_iter(0..10).map(|n| n + 1).name("increment").plan();
    /// println!("{plan}");
    /// assert!(plan.to_dot().contains("increment"));
    /// ```
    pub fn plan(&self) -> Plan {
        self.plan_to(Node::sink("end"))
    }

    /// The plan with `sink` as its last node.
    pub(super) fn plan_to(&self, sink: Node) -> Plan {
        let workers = self.settings.workers();
        let window = self.settings.window(workers, self.item_size());
        let mut plan = Plan::new(self.settings.plan(workers, window));
        plan.name = self.settings.title.clone();
        for described in &self.nodes {
            let node = described.node.clone();
            match &described.takes {
                None => plan.push(node),
                Some(item) if described.composes => plan.compose(item.clone(), node),
                Some(item) => plan.then(item.clone(), node),
            };
        }
        plan.then(ItemType::of::<U::Out>(), sink);
        plan
    }

    /// The size of the largest item that passes between two nodes.
    fn item_size(&self) -> usize {
        let sizes = self.nodes.iter().filter_map(|node| node.takes.as_ref()).map(|item| item.size);
        sizes.max().unwrap_or(0).max(size_of::<U::Out>())
    }
}

impl<'env, U, M> Stream<'env, U, M>
where
    U: Apply<M::Error> + Send + 'env,
    M: Mode,
    M::Error: Send + 'env,
{
    /// Runs the stream into `op`. A panic of user code is resumed here, after every thread has left.
    pub(super) fn run<E, Op>(self, op: Op, errors: &Arc<ErrorSlot<E>>) -> Ended<E>
    where
        E: Send,
        Op: Serial<U::Out, E, Out = Infallible>,
    {
        let workers = self.settings.workers();
        let window = self.settings.window(workers, self.item_size());
        let specs: Vec<NodeSpec> = self.nodes.iter().map(|described| described.spec.clone()).collect();
        let dedicated = specs.iter().filter_map(|spec| spec.own.clone()).collect::<Vec<_>>();
        let inline = self.settings.inline || (workers == 1 && dedicated.is_empty());
        let run = Arc::new(Run::new(workers, self.settings.spin, dedicated));
        if inline {
            let sink = InlineSink::new(Arc::clone(&run), op, errors, None);
            let mut line = self.tail.inline(&run, Box::new(InlineEnd::<U::To, U::Out, _, _>::new(sink)));
            line.drive();
        } else {
            let assembly = Assembly::new(Arc::clone(&run), window, specs);
            let line = assembly.close(self.tail, op, errors, None);
            let name = self.settings.title.as_deref().unwrap_or("anabranch");
            engine::run_threads(&line, &run, workers, window as u64, name);
        }
        let result = match run.outcome() {
            Outcome::Complete | Outcome::Cancelled => Ok(()),
            Outcome::Error => Err(errors.take().expect("an error that was noted")),
            Outcome::Panic(payload) => resume_unwind(payload),
        };
        Ended { result, report: M::REPORTS.then(|| Report {}) }
    }
}
