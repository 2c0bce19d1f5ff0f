//! The threads executor. The caller and its helpers walk the line until its sink closes.

use std::sync::{Arc, Mutex};

use anabranch_record::ThreadPool;
use anabranch_record::fork::{self, Birth};
use anabranch_record::pool::{JobContext, Stay};
#[cfg(not(any(loom, shuttle)))]
use anabranch_record::sync::named_thread;
use anabranch_record::sync::{Ordering, thread};

use super::affinity::Processors;
use super::worker::{Origin, RunContext, WalkEnd, Worker, attend};
use crate::engine::build::line::Line;
use crate::engine::nodes::node::SerialUnit;
use crate::engine::state::run::Run;

/// The threads of one run, until they are joined. Each thread that may spawn others has a clone.
#[derive(Clone)]
struct Team<'scope> {
    threads: Arc<Mutex<Vec<thread::ScopedJoinHandle<'scope, ()>>>>,
    /// The processors to which helpers are pinned, each helper to one of them.
    affinity: Option<&'scope Processors>,
}

impl<'scope> Team<'scope> {
    fn new(affinity: Option<&'scope Processors>) -> Self {
        Self { threads: Arc::default(), affinity }
    }

    /// Spawns a named thread. Returns whether the system could create one.
    fn spawn(
        &self,
        scope: &'scope thread::Scope<'scope, '_>,
        name: String,
        body: impl FnOnce() + Send + 'scope,
    ) -> bool {
        let Some(handle) = spawn(scope, name, body) else { return false };
        let mut threads = fork::lock(&self.threads);
        // A thread that has ended keeps its stack until it is joined. Workers may come and go any number of
        // times, so the ended ones are joined here.
        let ended: Vec<_> = threads.extract_if(.., |thread| has_ended(thread)).collect();
        threads.push(handle);
        drop(threads);
        for thread in ended {
            if let Err(payload) = thread.join() {
                std::panic::resume_unwind(payload);
            }
        }
        true
    }

    /// Waits until every thread has ended and has dropped its thread-local variables. The end of a scope does
    /// not wait for the latter. A thread that spawns another one adds it to the list before it ends, so the
    /// list is empty only after all threads were joined.
    fn join(&self, birth: Birth) {
        loop {
            let handle = fork::lock(&self.threads).pop();
            if handle.is_some() {
                birth.end_if_forked();
            }
            match handle.map(thread::ScopedJoinHandle::join) {
                None => return,
                Some(Ok(())) => {}
                Some(Err(payload)) => std::panic::resume_unwind(payload),
            }
        }
    }
}

/// Is held while threads of the run may be in a scope, which waits for them, also when it unwinds.
struct Here<'r>(&'r Run);

impl Drop for Here<'_> {
    fn drop(&mut self) {
        self.0.end_if_forked();
    }
}

/// Runs a line with up to `workers` threads, including the calling thread, and one more thread for each dedicated
/// stage. Returns after all of them have ended.
pub(crate) fn run(line: &Line<'_>, context: RunContext<'_>, workers: usize, affinity: Option<&Processors>) {
    thread::scope(|scope| {
        let _here = Here(context.run);
        let team = Team::new(affinity);
        let run = context.run;
        // Helpers come one by one, as there is work for them (rule 21). If a handle has set their number, it stays.
        run.workers.store(1, Ordering::Relaxed);
        let _ = run.target.compare_exchange(0, workers, Ordering::Relaxed, Ordering::Relaxed);
        attend_dedicated(scope, &team, line, context);
        let more = || help(scope, &team, line, context, context.run.workers.load(Ordering::Relaxed) - 1);
        #[cfg(shuttle)]
        let keeper = Keeper::new(scope);
        Worker::new(line, context, Origin::Caller { handle: None, more: Some(&more) }).work();
        #[cfg(shuttle)]
        keeper.dismiss();
        team.join(context.run.birth);
    });
}

/// A thread that lasts as long as the caller works. In shuttle, the end of the last scoped thread wakes the thread that waits in
/// the body of the scope, even if that waits for something else.
#[cfg(shuttle)]
struct Keeper(Arc<(anabranch_record::sync::Mutex<bool>, anabranch_record::sync::Condvar)>);

#[cfg(shuttle)]
impl Keeper {
    fn new<'scope>(scope: &'scope thread::Scope<'scope, '_>) -> Self {
        use anabranch_record::sync::{Condvar, Mutex, lock};
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let seen = Arc::clone(&shared);
        scope.spawn(move || {
            let mut is_over = lock(&seen.0);
            while !*is_over {
                is_over = seen.1.wait(is_over).unwrap_or_else(std::sync::PoisonError::into_inner);
            }
        });
        Self(shared)
    }

    fn dismiss(self) {
        *anabranch_record::sync::lock(&self.0.0) = true;
        self.0.1.notify_all();
    }
}

/// Like [`run`], but the helpers are threads of a pool.
pub(crate) fn run_on_pool(line: &Line<'_>, context: RunContext<'_>, workers: usize, pool: &ThreadPool) {
    let run = context.run;
    run.workers.store(1, Ordering::Relaxed);
    let job = |helper: &JobContext<'_>| {
        run.workers.fetch_add(1, Ordering::Relaxed);
        match Worker::new(line, context, Origin::Job(helper)).work() {
            WalkEnd::Done => Stay::Done,
            WalkEnd::Away | WalkEnd::Vacant => Stay::Away,
        }
    };
    let wake = || run.event.notify_all();
    pool.lend(workers - 1, &job, &wake, |handle| {
        let work = || {
            Worker::new(line, context, Origin::Caller { handle: Some(handle), more: None }).work();
        };
        if line.serial_units().all(|unit| unit.own.is_none()) {
            return work();
        }
        thread::scope(|scope| {
            let _here = Here(context.run);
            let team = Team::new(None);
            attend_dedicated(scope, &team, line, context);
            work();
            team.join(context.run.birth);
        });
    });
}

/// Spawns the threads of the dedicated stages.
fn attend_dedicated<'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    team: &Team<'scope>,
    line: &'scope Line<'_>,
    context: RunContext<'scope>,
) {
    let dedicated = |unit: &&SerialUnit<'_>| unit.own.is_some();
    for (number, unit) in line.serial_units().filter(dedicated).enumerate() {
        let name = format!("{}-stage-{number}", context.name);
        if !team.spawn(scope, name, move || attend(unit, line, context.run)) {
            // The dedicated threads that were spawned would wait for this stage, so the run ends here.
            context.run.finish();
            let kind = if unit.is_source { "the source" } else { "the dedicated stage" };
            panic!(
                "the system cannot create a thread for {kind} `{}`: end other threads, or raise the limit of threads or memory",
                unit.name
            );
        }
    }
}

/// Spawns helper `number`. If the system cannot create another thread, the run is slower but still right,
/// because the caller can finish it alone.
fn help<'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    team: &Team<'scope>,
    line: &'scope Line<'_>,
    context: RunContext<'scope>,
    number: usize,
) {
    let copy = team.clone();
    let spawned = team.spawn(scope, format!("{}-{number}", context.name), move || {
        if let Some(processors) = copy.affinity {
            processors.pin(number);
        }
        let more = || help(scope, &copy, line, context, context.run.workers.load(Ordering::Relaxed) - 1);
        Worker::new(line, context, Origin::Helper { more: &more }).work();
    });
    if !spawned {
        context.run.lose_a_worker();
    }
}

/// Whether a thread has ended, so that a join does not wait. With model checkers, which cannot tell, this is
/// `false`.
#[cfg(not(any(loom, shuttle)))]
fn has_ended(thread: &thread::ScopedJoinHandle<'_, ()>) -> bool {
    thread.is_finished()
}

#[cfg(any(loom, shuttle))]
fn has_ended(_: &thread::ScopedJoinHandle<'_, ()>) -> bool {
    false
}

#[cfg(not(any(loom, shuttle)))]
fn spawn<'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    name: String,
    body: impl FnOnce() + Send + 'scope,
) -> Option<thread::ScopedJoinHandle<'scope, ()>> {
    named_thread(&name).spawn_scoped(scope, body).ok()
}

#[cfg(any(loom, shuttle))]
fn spawn<'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    _: String,
    body: impl FnOnce() + Send + 'scope,
) -> Option<thread::ScopedJoinHandle<'scope, ()>> {
    Some(scope.spawn(body))
}
