//! From a stream to its plan, and to a run.

use std::cell::Cell as StdCell;
use std::convert::Infallible;
use std::panic::resume_unwind;
use std::time::Instant;

use anabranch_plan::{Domain, Node, Plan};
use anabranch_record::sync::{Arc, Ordering};

use super::{Described, Stream};
use crate::affinity::Processors;
use crate::cancel::{CancelToken, Stopped};
use crate::engine::{
    self, Assembly, ErrorSlot, InlineEnd, InlineSink, Measures, NodeSpec, Outcome, Run, Spans, Terms, Watched,
};
use crate::flow::Mode;
use crate::monitor::MonitorThread;
use crate::progress::Reporter;
use crate::report::Report;
use crate::serial::Serial;
use crate::settings::Settings;
use crate::unit::{Apply, Unit};
use crate::workers::Workers;

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
        self.planned(Node::sink("end")).0
    }

    /// The plan with `sink` as its last node, before any pass.
    pub(super) fn plan_to(&self, mut sink: Node) -> Plan {
        if let Some(name) = &self.settings.end {
            sink.name = name.clone().into();
        }
        let workers = self.settings.workers();
        let window = self.settings.window(workers, self.item_size());
        let mut plan = Plan::new(self.settings.plan(workers, window));
        plan.name = self.settings.title.clone();
        let unordered_from = self.settings.unordered_from.unwrap_or(usize::MAX);
        let end = Described::new::<U::Out>(sink);
        for (id, described) in self.nodes.iter().chain([&end]).enumerate() {
            let mut node = described.node.clone();
            node.ordered = id < unordered_from;
            let gives_order_up = id == unordered_from;
            if id > 0 && (described.opens_domain || gives_order_up) {
                let window = self.settings.window_behind.unwrap_or(window);
                plan.open_domain(Domain { window, ordered: node.ordered });
            } else if id == 0 {
                plan.domains[0].ordered = node.ordered;
            }
            match &described.takes {
                None => plan.push(node),
                Some(item) if described.composes && !gives_order_up => plan.compose(item.clone(), node),
                Some(item) => plan.then(item.clone(), node),
            };
        }
        if let Some(costs) = &self.settings.costs {
            for (node, other) in plan.nodes.iter_mut().zip(&costs.nodes) {
                if node.operator == other.operator {
                    (node.cost, node.waits, node.rate) = (other.cost, other.waits, other.rate);
                }
            }
        }
        plan
    }

    /// The size of the largest item that passes between two nodes.
    pub(crate) fn item_size(&self) -> usize {
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
    /// Runs the stream into `op`, the end called `name`. A panic of user code is resumed here, after every
    /// thread has left.
    pub(super) fn run<E, Op>(mut self, sink: Node, op: Op, errors: &Arc<ErrorSlot<E>>) -> Ended<E>
    where
        E: Send,
        Op: Serial<U::Out, E, Out = Infallible>,
    {
        let workers = self.settings.workers();
        let window = self.settings.window(workers, self.item_size());
        let mut specs: Vec<NodeSpec> = self.nodes.iter().map(|described| described.spec.clone()).collect();
        let dedicated = specs.iter().filter_map(|spec| spec.own.clone()).collect::<Vec<_>>();
        // One worker is the caller alone: with nobody to share with, the plain loop is the best executor.
        let is_watched = self.settings.monitor.is_some() || self.settings.stall.is_some();
        let is_alone = workers == 1 && dedicated.is_empty() && self.settings.handle.is_none();
        self.settings.inline |= is_alone && !is_watched;
        let spans = Spans::of(|| self.planned(sink.clone()).0);
        let is_planned = M::REPORTS || is_watched || self.settings.passes.is_some();
        let plan = is_planned.then(|| self.planned(sink).0);
        let windows = match &plan {
            Some(plan) if self.settings.passes.is_some() => self.chosen(plan, &mut specs),
            _ => vec![window, self.settings.window_behind.unwrap_or(window)],
        };
        let window = windows.iter().copied().max().unwrap_or(window);
        let watched = plan.as_ref().filter(|_| is_watched).map(|plan| {
            let monitor = self.settings.monitor.take().unwrap_or_default();
            let watcher = MonitorThread { monitor, stall: self.settings.stall.take() };
            Watched { watcher, plan: plan.clone() }
        });
        let traces = self.settings.traces && M::REPORTS;
        let plan = plan.filter(|_| M::REPORTS || is_watched);
        let measures = plan.as_ref().map(|plan| Measures::new(plan.nodes.len(), window, workers, traces));
        let plan = plan.filter(|_| M::REPORTS);
        let burst = self.settings.burst.map_or(0, |burst| burst as u64);
        let feed = self.settings.feed.take();
        let run = Arc::new(Run::new(workers, self.settings.spin, burst, dedicated, measures, spans, feed));
        if self.settings.takes_none {
            run.drain();
        }
        let Settings { title, inline, tokens, progress, bytes, pool, handle, affinity, .. } = self.settings;
        let watcher = progress.map(|call| Reporter::new(call, bytes));
        for token in &tokens {
            token.attach(&run);
        }
        if let Some(handle) = &handle {
            handle.attach(&run);
        }
        let guard =
            Detach { tokens: &tokens, handle: handle.as_ref(), run: &run, counts: StdCell::new((0, 0)) };
        let began = Instant::now();
        let _entered = run.spans().enter_run();
        if inline {
            let _track = run.measures().map(Measures::on_track);
            let sink = InlineSink::new(Arc::clone(&run), specs.len(), op, errors, watcher);
            let mut line = self.tail.inline(&run, Box::new(InlineEnd::<U::To, U::Out, _, _>::new(sink)));
            let pulled = line.drive();
            run.note_leftovers(line);
            guard.counts.set((pulled, run.delivered.load(Ordering::Relaxed)));
        } else {
            let line = Assembly::new(Arc::clone(&run), windows, specs).close(self.tail, op, errors, watcher);
            let name = title.as_deref().unwrap_or("anabranch");
            let processors = affinity.then(Processors::of_this_thread);
            let terms = Terms { run: &run, window: window as u64, name, affinity: processors.as_ref() };
            let work = || match pool {
                Some(pool) => engine::run_on_crew(&line, terms, workers, &pool.crew),
                None => engine::run_threads(&line, terms, workers),
            };
            match watched {
                Some(watched) => engine::watched(&line, terms, watched, work),
                None => work(),
            }
            guard.counts.set(line.counts());
            run.note_leftovers(line);
        }
        drop(guard);
        let wall = began.elapsed();
        let report = plan.zip(run.measures()).map(|(plan, measures)| Report::new(plan, wall, measures));
        let result = match run.outcome() {
            Outcome::Complete => Ok(()),
            Outcome::Error => Err(errors.take().expect("an error that was noted")),
            Outcome::Panic(payload) => resume_unwind(payload),
        };
        Ended { result, report }
    }
}

/// The units of a plan: the id of each one's first node, and its stages' names.
pub(crate) fn unit_names(plan: &Plan) -> Vec<(usize, String)> {
    let units = plan.nodes.chunk_by(|a, b| a.unit == b.unit);
    let name = |unit: &[Node]| unit.iter().map(|node| &*node.name).collect::<Vec<_>>().join(" + ");
    units.map(|unit| (unit[0].id.0, name(unit))).collect()
}

/// Takes a run away from its tokens, also when user code panics through the inline executor.
struct Detach<'r> {
    tokens: &'r [CancelToken],
    handle: Option<&'r Workers>,
    run: &'r Arc<Run>,
    /// Items pulled, and items delivered.
    counts: StdCell<(u64, u64)>,
}

impl Drop for Detach<'_> {
    fn drop(&mut self) {
        let (pulled, delivered) = self.counts.get();
        let counts = Stopped { delivered, dropped: pulled.saturating_sub(delivered) };
        for token in self.tokens {
            token.detach(self.run, counts);
        }
        if let Some(handle) = self.handle {
            handle.detach(self.run);
        }
    }
}
