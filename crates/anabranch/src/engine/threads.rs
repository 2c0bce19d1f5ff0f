//! The threads executor: the caller and its helpers walk the line until its sink closes.

use anabranch_plan::Plan;
use anabranch_record::Crew;
use anabranch_record::crew::{Guest, Stay};
use anabranch_record::sync::{Ordering, thread};

use crate::affinity::Processors;
use crate::monitor::{MonitorThread, Over, Registered};

use super::assembly::{Line, Station};
use super::run::{self, Cause, Run};
use super::worker::{Left, Place, Worker, attend};

/// A run that is watched: by what, and as what.
pub(crate) struct Watched<'r> {
    pub(crate) watcher: MonitorThread<'r>,
    pub(crate) plan: Plan,
}

/// Calls `run`, watched by a thread of its own.
pub(crate) fn watched(line: &Line<'_>, terms: Terms<'_>, watched: Watched<'_>, run: impl FnOnce()) {
    let Watched { watcher, plan } = watched;
    let registered = Registered::new(&watcher.monitor);
    std::thread::scope(|scope| {
        let (plan, registered) = (&plan, &registered);
        let look = move || line.snapshot(terms.run, terms.name, plan);
        let fail = move |payload| {
            terms.run.halt(run::Place::END, Cause::Panic(payload));
            terms.run.finish();
        };
        let thread = move || watcher.run(registered, look, fail);
        let name = format!("{}-monitor", terms.name);
        let spawned = std::thread::Builder::new().name(name).spawn_scoped(scope, thread);
        spawned.expect("a thread for the monitor");
        let _over = Over(registered);
        run();
    });
}

/// What the threads of a run need to know beside the line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms<'r> {
    pub(crate) run: &'r Run,
    pub(crate) window: u64,
    /// The threads' names begin with it.
    pub(crate) name: &'r str,
    /// Each helper is pinned to one of them.
    pub(crate) affinity: Option<&'r Processors>,
}

/// Runs a line with `workers` threads, the calling one among them, and one more for each dedicated stage.
/// Returns when every one of them has left.
pub(crate) fn run(line: &Line<'_>, terms: Terms<'_>, workers: usize) {
    thread::scope(|scope| {
        attend_dedicated(scope, line, terms);
        for number in 1..workers {
            help(scope, line, terms, number);
        }
        let more = || help(scope, line, terms, terms.run.workers.load(Ordering::Relaxed) - 1);
        Worker::new(line, terms, Place::Caller { offer: None, more: Some(&more) }).work();
    });
}

/// As [`run`], with helpers from a crew.
pub(crate) fn run_on_crew(line: &Line<'_>, terms: Terms<'_>, workers: usize, crew: &Crew) {
    let run = terms.run;
    run.workers.store(1, Ordering::Relaxed);
    let job = |guest: &Guest<'_>| {
        run.workers.fetch_add(1, Ordering::Relaxed);
        match Worker::new(line, terms, Place::Guest(guest)).work() {
            Left::Done => Stay::Done,
            Left::Away => Stay::Away,
        }
    };
    let nudge = || run.event.notify_all();
    crew.lend(workers - 1, &job, &nudge, |offer| {
        let work = || {
            Worker::new(line, terms, Place::Caller { offer: Some(offer), more: None }).work();
        };
        if stations(line).all(|station| station.own.is_none()) {
            return work();
        }
        thread::scope(|scope| {
            attend_dedicated(scope, line, terms);
            work();
        });
    });
}

fn stations<'l, 'env>(line: &'l Line<'env>) -> impl Iterator<Item = &'l Station<'env>> {
    std::iter::once(&line.source).chain(line.links.iter().map(|link| &link.station))
}

/// Spawns the threads of the dedicated stages.
fn attend_dedicated<'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    line: &'scope Line<'_>,
    terms: Terms<'scope>,
) {
    for (at, station) in stations(line).enumerate() {
        if station.own.is_some() {
            let spawned =
                spawn(scope, format!("{}-stage-{at}", terms.name), move || attend(station, terms.run));
            if !spawned {
                // Those that have one would wait for this one.
                terms.run.finish();
                panic!("the system has no thread for a dedicated stage");
            }
        }
    }
}

/// Spawns a helper, the `number`th. A system that gives no more threads makes the run slower, not wrong: the
/// caller can finish it alone.
fn help<'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    line: &'scope Line<'_>,
    terms: Terms<'scope>,
    number: usize,
) {
    let spawned = spawn(scope, format!("{}-{number}", terms.name), move || {
        if let Some(processors) = terms.affinity {
            processors.pin(number);
        }
        let more = || help(scope, line, terms, terms.run.workers.load(Ordering::Relaxed) - 1);
        Worker::new(line, terms, Place::Helper { more: &more }).work();
    });
    if !spawned {
        terms.run.workers.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Spawns a named thread; says whether the system had one.
#[cfg(not(any(loom, shuttle)))]
fn spawn<'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    name: String,
    body: impl FnOnce() + Send + 'scope,
) -> bool {
    thread::Builder::new().name(name).spawn_scoped(scope, body).is_ok()
}

#[cfg(any(loom, shuttle))]
fn spawn<'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    _: String,
    body: impl FnOnce() + Send + 'scope,
) -> bool {
    scope.spawn(body);
    true
}
