//! Runs a plan with the executor that the plan names.

use anabranch_plan::{Executor, Node, Placement, Plan, Role};
use anabranch_record::sync::Arc;
use anabranch_record::{EventCount, ThreadPool};

use super::build::assembly::Assembly;
use super::build::line::Line;
use super::state::run::Run;
use super::walk::threads;
use super::walk::worker::RunContext;
use crate::engine::walk::affinity::Processors;
use crate::measures::Measures;

/// The parts of a run that are neither its plan nor its code.
pub(crate) struct ExecutorParts<'m> {
    /// The pool whose threads help, if the plan's executor is a pool.
    pub(crate) pool: Option<&'m ThreadPool>,
    /// For each node, the event at which its dedicated thread waits: the result of [`own_events`].
    pub(crate) own: Vec<Option<Arc<EventCount>>>,
    /// The largest number of items that the source gives, if it is known.
    pub(crate) most: Option<usize>,
    /// Watches the line while it runs. See [`Watch`].
    pub(crate) watch: Option<&'m Watch<'m>>,
}

/// The events of the nodes that have dedicated threads, by node. Empty if no node has one. `outside` is the
/// event of a source whose items come from outside the run: the threads that post items notify it too.
pub(crate) fn own_events(plan: &Plan, outside: Option<&Arc<EventCount>>) -> Vec<Option<Arc<EventCount>>> {
    let event = |role: Role| match outside {
        Some(event) if role == Role::Source => Arc::clone(event),
        _ => Arc::new(EventCount::new()),
    };
    let is_own = |node: &Node| node.placement == Placement::Dedicated;
    if !plan.nodes.iter().any(is_own) {
        return Vec::new();
    }
    plan.nodes.iter().map(|node| is_own(node).then(|| event(node.role))).collect()
}

/// A function that watches a line. It gets the line and a function that runs the line, which it must call.
pub(crate) type Watch<'m> = dyn Fn(&Line<'_>, &dyn Fn()) + 'm;

/// Makes a line of `plan` and of the nodes that `code` connects, and runs it until its sink closes. Returns
/// the plan, and how many items were pulled from the source.
pub(crate) fn execute<'run>(
    run: &Arc<Run>,
    plan: Plan,
    parts: ExecutorParts<'_>,
    code: impl FnOnce(&mut Assembly<'run>),
) -> (Plan, u64) {
    let ExecutorParts { pool, own, most, watch } = parts;
    let mut assembly = Assembly::new(Arc::clone(run), plan, own, most);
    code(&mut assembly);
    let _entered = run.spans().enter_run();
    if assembly.is_direct() {
        let (mut source, stopwatch, plan) = assembly.finish_direct();
        let _track = run.measures().map(Measures::on_track);
        let pulled = source.drive();
        if let Some(stopwatch) = stopwatch {
            stopwatch.finish();
        }
        run.drop_leftovers(source);
        return (plan, pulled);
    }
    let (line, plan) = assembly.finish();
    let window = plan.domains.iter().map(|domain| domain.window).max().unwrap_or(1) as u64;
    let name = plan.name.as_deref().unwrap_or("anabranch");
    let context = RunContext { run, window, name };
    let work = || match pool.filter(|_| plan.settings.executor == Executor::Pool) {
        Some(pool) => threads::run_on_pool(&line, context, plan.settings.workers, pool),
        None => {
            let processors = plan.settings.pinned.then(Processors::of_this_thread);
            threads::run(&line, context, plan.settings.workers, processors.as_ref());
        }
    };
    match watch {
        Some(watch) => watch(&line, &work),
        None => work(),
    }
    let pulled = line.pulled();
    run.drop_leftovers(line);
    (plan, pulled)
}
