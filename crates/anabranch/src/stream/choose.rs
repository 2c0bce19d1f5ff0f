//! The choices that passes make for the user, and the choices that the executors make by themselves.

use anabranch_plan::quantity::count;
use anabranch_plan::{Burst, Executor, ItemType, Node, NodeId, Pass, Passes, Plan};

use super::Stream;
use super::defaults::{ANY_END, Chooser};
use super::draft::machine;
use super::options::ForAll;
use crate::stream::Mode;

impl<'env, T: Send + 'env, M: Mode<Error: 'env>> Stream<'env, T, M> {
    /// Takes the costs that were measured in an earlier run of the same stream, from its [`Report`](crate::Report), or those of a
    /// [`Plan`]. Predictions and passes use them. Stages are matched by their positions. A stage of another kind than before keeps
    /// its cost. The end of a plan that [`plan`](Self::plan) has made stands for any end.
    ///
    /// ```
    /// use anabranch::{ReportSlot, Stream};
    ///
    /// let stream = || Stream::from_iter(0..10_000u64).workers(2).map(|n| n * n).serial_map(|n| n + 1);
    /// let slot = ReportSlot::new();
    /// stream().report_to(&slot).count();
    /// let first = slot.take().unwrap();
    /// let plan = stream().costs_from(&first).plan();
    /// assert!(plan.predict(8).is_ok());
    /// ```
    pub fn costs_from(mut self, costs: impl AsRef<Plan>) -> Self {
        self.draft.outline.unset.costs = Some(Box::new(costs.as_ref().clone()));
        self
    }

    /// Lets passes choose the settings that were not set: which neighbouring serial stages run as one, how
    /// many replicas a parallel stage has, how many items are in flight, and how many items a worker claims
    /// at once. The passes need the [costs](Self::cost) of the stages and of the end: those of an
    /// [earlier run](Self::costs_from), for example. They change only how long the run
    /// takes, never its results. [`explain`](Self::explain) says what they did, and why.
    ///
    /// Passes do not widen a window that was set, and do not change other settings that were set.
    ///
    /// Without passes, the executor chooses while it runs. Each worker measures its items and claims 4 to 20
    /// µs of work at a time. The window has its [default](Self::window). All workers may be in a parallel stage at once.
    ///
    /// ```
    /// use std::time::Duration;
    /// use anabranch::{Source, plan::Passes};
    ///
    /// let stream = Source::new(0..10_000u64)
    ///     .cost(Duration::from_nanos(200))
    ///     .into_stream()
    ///     .workers(4)
    ///     .cost(Duration::from_micros(30))
    ///     .map(|n| n * n);
    /// let mut costs = stream.plan();
    /// costs.nodes.last_mut().unwrap().cost = Some(100); // the end's, in nanoseconds
    /// let stream = stream.costs_from(costs).passes(Passes::all());
    /// assert_eq!(stream.plan().domains[0].window, 64);
    /// println!("{}", stream.explain());
    /// ```
    pub fn passes(mut self, passes: Passes) -> Self {
        let apply = |passes: &Passes, plan: &mut Plan| passes.apply(plan, &machine());
        self.draft.outline.unset.passes = Some(Chooser { passes, apply });
        self
    }
}

impl<'env, T: Send + 'env, M: Mode<Error: 'env>, O> Stream<'env, T, M, O> {
    /// The plan in words. If the costs are known, the text has the prediction for this machine. It also says
    /// which settings were chosen by the user, by a pass, or are chosen by the executor.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let text = Stream::from_iter(0..100).workers(2).map(|n| n + 1).window(64).explain();
    /// assert!(text.contains("at most 64 items in flight, as was set"));
    /// ```
    #[track_caller]
    pub fn explain(&self) -> String
    where
        O: ForAll,
    {
        self.draft.outline.assert_whole("explain");
        let (plan, notes) = self.draft.planned(Node::sink(ANY_END), ItemType::of::<T>());
        plan.explain_choices(&machine(), &notes, |pass| self.otherwise(pass, &plan))
    }

    /// The text for a pass that has changed nothing: what the executor does instead.
    fn otherwise(&self, pass: Pass, plan: &Plan) -> String {
        let is_inline = plan.settings.executor == Executor::Inline || plan.settings.workers == 1;
        let executor = match pass {
            _ if is_inline && pass != Pass::Window => {
                "one thread takes each item through all stages".to_owned()
            }
            Pass::Fuse => neighbours(plan),
            Pass::Replicas => "all workers may be in a parallel stage at the same time".to_owned(),
            Pass::Window => {
                let windows: Vec<String> =
                    plan.domains.iter().map(|domain| domain.window.to_string()).collect();
                let who =
                    if !self.draft.outline.unset.window { "as was set" } else { "by the size of the items" };
                format!("at most {} items in flight, {who}", windows.join(" and "))
            }
            Pass::Burst => match plan.settings.burst {
                Burst::Fixed(items) => format!("a worker takes {} at once, as was set", count(items, "item")),
                Burst::Adaptive => {
                    "each worker measures the items while it runs, and takes 4 to 20 µs of work at once"
                        .to_owned()
                }
            },
            _ => String::new(),
        };
        let unknown = plan.nodes.iter().any(|node| node.cost.is_none());
        match self.draft.outline.unset.passes {
            _ if is_inline => executor,
            None => format!("{executor} (no pass was asked for)"),
            Some(Chooser { passes, .. }) if !passes.contains(pass) => {
                format!("{executor} (the pass is switched off)")
            }
            Some(_) if unknown => format!("{executor} (not all costs are known)"),
            Some(_) => format!("{executor} (nothing to be changed)"),
        }
    }
}

/// The text that says how neighbouring serial stages run if they are not fused.
fn neighbours(plan: &Plan) -> String {
    let is_serial = |id: NodeId| plan.node(id).is_some_and(|node| !node.role.is_parallel());
    let pair = plan.edges.iter().find(|edge| {
        edge.kind.is_lane()
            && is_serial(edge.from)
            && is_serial(edge.to)
            && plan.inputs(edge.from).next().is_some()
    });
    match pair.and_then(|edge| plan.node(edge.from).zip(plan.node(edge.to))) {
        None => "there are no serial neighbours".to_owned(),
        Some((before, after)) => format!(
            "a worker that has served `{}` goes on with `{}`, up to 256 items at a time",
            before.name, after.name
        ),
    }
}
