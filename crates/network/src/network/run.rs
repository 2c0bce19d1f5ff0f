//! A run of a network: its threads, and its result.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::panic::resume_unwind;

use anabranch_record::pool::Stay;
use anabranch_record::sync::{Arc, Mutex, lock, thread};

use anabranch::Pool;
use anabranch::host::Processors;
use anabranch::host::discard;

use super::{
    Error,
    contents::{Contents, Failure, Outcome},
    here::{Code, Handles, spawn, start},
    plan::misuse,
    process::Process,
    worker,
};

/// The threads that fire the rules.
pub(super) enum Threads<'env> {
    Workers(usize),
    Pool(&'env Pool),
}

/// The content of a network before it runs.
pub(super) struct Parts<'env, E> {
    pub(super) contents: Arc<Contents<'env, E>>,
    pub(super) processes: Vec<(Arc<Process>, Code<'env, E>)>,
}

pub(super) fn run<'env, E: Send + 'env>(
    parts: Parts<'env, E>,
    threads: &Threads<'env>,
) -> Result<(), Error<E>> {
    let Parts { contents, processes } = parts;
    let (plan, inside) = contents.plan(1);
    let network = Arc::clone(&contents.network);
    if let Some(message) = misuse(&plan) {
        network.misuse(message);
    }
    if let Some(message) = lock(&network.wrong).misuse.take() {
        network.finish();
        return Err(Error::misused(message));
    }
    network.start();
    network.begin();
    let is_alone = matches!(threads, Threads::Workers(1));
    // Only processes create further processes and rules.
    if is_alone && processes.is_empty() {
        network.set_alone();
        contents.rules.iter().for_each(|(_, cell)| cell.link.set_alone());
    }
    for (_, cell) in contents.rules.iter().filter(|_| is_alone) {
        if let Some(mut held) = cell.baton.try_acquire() {
            for body in held.state().iter_mut().filter_map(|member| member.body.as_mut()) {
                body.set_alone(&|record| inside.contains(&record.index));
            }
            held.let_go();
        }
    }
    for (_, cell) in &contents.rules {
        cell.link.start();
    }
    // This thread is counted as awake. Each process is counted before its thread starts.
    network.rouse();
    match threads {
        Threads::Workers(workers) => live(&contents, processes, workers.saturating_sub(1), None),
        Threads::Pool(pool) => {
            let contents_of_helper = &contents;
            let job = move |_: &anabranch_record::pool::JobContext<'_>| {
                contents_of_helper.network.rouse();
                worker::help(contents_of_helper, None);
                Stay::Done
            };
            // Processes may create more rules.
            let rules = if processes.is_empty() { contents.rules.count() } else { usize::MAX };
            let helpers = (pool.threads() - 1).min(rules.saturating_sub(1));
            anabranch::host::threads(pool).lend(helpers, &job, &|| (), |handle| {
                live(&contents, processes, helpers, Some(&|| handle.call()));
            });
        }
    }
    network.finish();
    judge(&contents)
}

/// Runs the processes and up to `helpers` further workers until all have ended. `call` calls the helpers.
/// Without it, they are threads of the run.
fn live<'env, E: Send + 'env>(
    contents: &Arc<Contents<'env, E>>,
    processes: Vec<(Arc<Process>, Code<'env, E>)>,
    helpers: usize,
    call: Option<&dyn Fn()>,
) {
    // Threads of a pool are not pinned, because other runs share them.
    let placed = contents.network.placed().filter(|_| call.is_none());
    let processors = placed.map(|_| Processors::of_this_thread()).unwrap_or_default();
    // Asked here, where the thread may run on all of them: the answer is kept for the whole process.
    anabranch::host::processors();
    thread::scope(|scope| {
        let has_others = helpers > 0 || !processes.is_empty();
        let _guard = has_others.then(|| contents.network.guard());
        let threads: Handles<'_> = Arc::new(Mutex::new(Vec::new()));
        let started = Cell::new(0);
        let call_helpers = || {
            // More workers than rules would find nothing to do.
            let useful = helpers.min(contents.rules.count().saturating_sub(usize::from(call.is_some())));
            while started.get() < useful {
                started.set(useful.min(started.get() + 1));
                if let Some(call) = call {
                    started.set(useful);
                    call();
                    continue;
                }
                let contents_of_helper = Arc::clone(contents);
                contents.network.rouse();
                let (number, processors) = (started.get(), processors.clone());
                let helper = move || {
                    if let Some(placed) = contents_of_helper.network.placed() {
                        placed.pin(&processors, number);
                    }
                    worker::help(&contents_of_helper, Some(number));
                };
                match start(scope, "anabranch-worker", helper) {
                    Some(handle) => lock(&threads).push(handle),
                    // The network also runs with fewer workers.
                    None => contents.network.rest(),
                }
            }
        };
        call_helpers();
        for (process, code) in processes {
            spawn(scope, contents, &threads, process, code);
        }
        // The calling thread is not pinned: threads that a kernel starts on it would stay on one processor.
        worker::lead(contents, call.is_none().then_some(0), call_helpers);
        // No process creates another one any more. The joins make sure that all threads have ended.
        loop {
            let handles = std::mem::take(&mut *lock(&threads));
            if handles.is_empty() {
                break;
            }
            for handle in handles {
                contents.network.end_if_forked();
                discard(handle.join());
            }
        }
    });
}

/// The result of the run, after every thread has ended.
fn judge<E: Send>(contents: &Contents<'_, E>) -> Result<(), Error<E>> {
    let failures = std::mem::take(&mut *lock(&contents.failures));
    let wrong = std::mem::take(&mut *lock(&contents.network.wrong));
    let is_deadlock = wrong.deadlock.is_some();
    let is_networks = is_deadlock || wrong.misuse.is_some();
    if let Some(failure) = first_of_its_own(contents, failures, is_deadlock, is_networks) {
        return match failure.outcome {
            Outcome::Error(error) => Err(Error::failed(&failure.process.name, error.into_inner())),
            Outcome::Panic(payload) => resume_unwind(payload.into_inner()),
        };
    }
    if let Some(message) = wrong.misuse {
        return Err(Error::misused(message));
    }
    wrong.deadlock.map_or(Ok(()), |found| Err(Error::deadlocked(contents.completed(found))))
}

/// The failure that counts. Among the failures that do not follow from the end of another process, it is the one
/// of the process that was created first.
///
/// A failure follows from another end if the process has noticed that a view was closed by the end of the
/// network, by a process that has failed, or by a process that has itself noticed such an end. If all
/// failures follow from one another, the one that became known first counts.
fn first_of_its_own<E>(
    contents: &Contents<'_, E>,
    failures: Vec<Failure<E>>,
    is_deadlock: bool,
    is_networks: bool,
) -> Option<Failure<E>> {
    let processes = lock(&contents.network.processes);
    let failed: BTreeSet<usize> = failures.iter().map(|failure| failure.process.index).collect();
    // Whether a failure of `start` follows from others; each process is looked at once.
    let follows = |start: &Process| {
        let mut seen = BTreeSet::from([start.index]);
        let mut todo = vec![start.index];
        while let Some(index) = todo.pop() {
            let Some(process) = processes.get(index) else { continue };
            if index != start.index && failed.contains(&index) {
                return true;
            }
            let saw = process.saw();
            if saw.ending || saw.forgotten && is_deadlock {
                return true;
            }
            todo.extend(saw.processes.into_iter().filter(|&next| seen.insert(next)));
        }
        false
    };
    let own = |failure: &Failure<E>| !follows(&failure.process);
    let of_their_own: Vec<bool> = failures.iter().map(own).collect();
    let some = of_their_own.contains(&true);
    failures
        .into_iter()
        .zip(of_their_own)
        .enumerate()
        // If every failure follows from another one, and the network itself is not the reason, the first one
        // counts.
        .filter(|(at, (_, own))| *own || !some && !is_networks && *at == 0)
        .map(|(_, (failure, _))| failure)
        .min_by_key(|failure| failure.process.index)
}
