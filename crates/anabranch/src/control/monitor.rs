//! Snapshots of running streams.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anabranch_plan::quantity::count;
use anabranch_plan::{Node, Plan};
use anabranch_record::fork::{self, Birth};
use anabranch_record::sync::{Ordering, named_thread};

use crate::engine::{Cause, Line, Position, Run};
use crate::report::Report;

/// Takes snapshots of running streams. [`Stream::watch`](crate::Stream::watch) makes a stream answer it.
///
/// ```
/// use anabranch::{Monitor, Stream};
///
/// let monitor = Monitor::new();
/// let mut looks = Vec::new();
/// Stream::from_iter(0..100)
///     .workers(2)
///     .watch(&monitor)
///     .map(|n| n + 1)
///     .for_each(|n| if n == 50 { looks = monitor.snapshots() });
/// assert_eq!(looks[0].nodes.last().unwrap().taken, 50);
/// println!("{}", looks[0]);
/// ```
///
/// The report in a snapshot has a [prediction](Report::prediction) from the costs of the items so far. A
/// snapshot after the first items therefore predicts the rest of the run.
#[derive(Clone, Default)]
pub struct Monitor {
    shared: Arc<Question>,
}

#[derive(Default)]
struct Question {
    state: Mutex<Answers>,
    changed: Condvar,
}

#[derive(Default)]
struct Answers {
    /// How many running streams answer this monitor.
    streams: usize,
    /// The process in which they run.
    birth: Option<Birth>,
    /// The number of the last question.
    question: u64,
    /// How many streams have not answered it yet.
    missing: usize,
    answers: Vec<Snapshot>,
}

/// The state of a running stream.
///
/// Its [`Display`](fmt::Display) prints the table of a [`Report`], with the values so far.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Snapshot {
    /// The title of the run.
    pub title: String,
    /// How many workers the run has at this moment.
    pub workers: usize,
    /// How many of the workers wait for something to do.
    pub waiting: usize,
    /// The units of the plan, from the source to the sink.
    pub nodes: Vec<NodeSnapshot>,
    /// The measurements so far. Work that a thread is doing counts when it is done.
    pub report: Report,
}

/// The state of one unit of a running stream.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeSnapshot {
    /// The names of its stages, joined by `+`.
    pub name: String,
    /// How many items it has taken. For the source, how many items it has given.
    pub taken: u64,
    /// How many items have arrived here and wait for it.
    pub before: u64,
    /// Whether a thread is inside. `None` for a parallel unit, where this is not known.
    pub running: Option<bool>,
}

impl fmt::Display for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { title, workers, waiting, nodes, report } = self;
        let idle = match waiting {
            0 => "none of them idle".to_owned(),
            some => format!("{some} of them idle"),
        };
        let after = crate::report::short(report.wall());
        writeln!(f, "{title}: after {after}, {}, {idle}", count(*workers, "worker"))?;
        report.write_table(f)?;
        let running = nodes.iter().filter(|node| node.running == Some(true));
        let running: Vec<&str> = running.map(|node| &*node.name).collect();
        match &running[..] {
            [] => write!(f, "No serial stage is running."),
            some => write!(f, "Running now: {}.", some.join(", ")),
        }
    }
}

impl fmt::Debug for Monitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Monitor").field("streams", &self.shared.lock().streams).finish()
    }
}

impl Question {
    fn lock(&self) -> MutexGuard<'_, Answers> {
        let mut state = fork::lock(&self.state);
        if state.birth.is_some_and(Birth::is_forked) {
            // The streams run in the parent process, and none runs here yet.
            *state = Answers::default();
        }
        state
    }

    fn wait<'s>(&self, state: MutexGuard<'s, Answers>) -> MutexGuard<'s, Answers> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }
}

impl Monitor {
    /// Creates a monitor that no stream answers yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The state of each running stream of this monitor. Streams that run [inline](crate::Stream::inline) do
    /// not answer.
    pub fn snapshots(&self) -> Vec<Snapshot> {
        let mut state = self.shared.lock();
        while state.missing > 0 {
            // Another thread's question is still being answered.
            state = self.shared.wait(state);
        }
        if state.streams == 0 {
            return Vec::new();
        }
        state.question += 1;
        state.missing = state.streams;
        state.answers.clear();
        self.shared.changed.notify_all();
        while state.missing > 0 {
            state = self.shared.wait(state);
        }
        let answers = std::mem::take(&mut state.answers);
        drop(state);
        answers
    }
}

/// The function of the user that is called when a run stalls.
pub(crate) type OnStall<'env> = Box<dyn FnMut(&Snapshot) + Send + 'env>;

/// The tasks of the monitoring thread of one run.
pub(crate) struct MonitorThread<'r> {
    /// The monitor that it answers.
    monitor: Option<Monitor>,
    /// After how long without progress to call the function.
    stall: Option<(Duration, OnStall<'r>)>,
    /// Watches a line: [`watched`]. A snapshot has a report, and reports are large. A program that is linked statically has
    /// their code only if it watches a stream, because nothing else refers to the function.
    watched: fn(&Line<'_>, &Run, &Plan, MonitorThread<'_>, &dyn Fn()),
    /// Copies the plan: the thread needs one while the line runs.
    copy: fn(&Plan) -> Plan,
}

/// Calls `work`, which runs `line`, while a thread of its own watches.
fn watched(line: &Line<'_>, run: &Run, plan: &Plan, mut thread: MonitorThread<'_>, work: &dyn Fn()) {
    let registered = Registered::new(thread.monitor.take().unwrap_or_default());
    std::thread::scope(|scope| {
        let registered = &registered;
        let look = move || snapshot(line, run, plan);
        let fail = move |payload| {
            run.halt(Position::END, Cause::Panic(payload));
            run.finish();
        };
        let body = move || thread.run(registered, look, fail);
        let name = format!("{}-monitor", title(plan));
        let spawned = named_thread(&name).spawn_scoped(scope, body);
        let spawned =
            spawned.unwrap_or_else(|error| panic!("the system cannot create a thread for `watch`: {error}"));
        let _guard = run.birth.guard();
        let over = Over(registered);
        work();
        drop(over);
        if let Err(payload) = spawned.join() {
            std::panic::resume_unwind(payload);
        }
    });
}

fn title(plan: &Plan) -> &str {
    plan.name.as_deref().unwrap_or("anabranch")
}

/// How a running line stands.
fn snapshot(line: &Line<'_>, run: &Run, plan: &Plan) -> Snapshot {
    let nodes = line.standings().zip(plan.units()).map(|(standing, unit)| NodeSnapshot {
        name: Node::unit_name(unit),
        taken: standing.taken,
        before: standing.waiting,
        running: standing.running,
    });
    let workers = run.workers.load(Ordering::Relaxed);
    let measures = run.measures().expect("a run that is watched is measured");
    Snapshot {
        title: title(plan).to_owned(),
        workers,
        waiting: run.event.sleepers().min(workers),
        nodes: nodes.collect(),
        report: Report::new(plan.clone(), Duration::from_nanos(measures.now()), measures),
    }
}

impl<'r> MonitorThread<'r> {
    /// A thread that answers this monitor.
    pub(crate) fn answering(monitor: Monitor) -> Self {
        Self { monitor: Some(monitor), stall: None, watched, copy: Plan::clone }
    }

    /// A thread that calls the function after this time without progress.
    pub(crate) fn calling(after: Duration, function: OnStall<'r>) -> Self {
        Self { monitor: None, stall: Some((after, function)), watched, copy: Plan::clone }
    }

    /// The monitor that it answers.
    pub(crate) fn monitor(&self) -> Option<&Monitor> {
        self.monitor.as_ref()
    }

    /// The thread that does what this one does and, before that, what `other` does.
    pub(crate) fn and(self, other: Self) -> Self {
        let (monitor, stall) = (other.monitor.or(self.monitor), other.stall.or(self.stall));
        Self { monitor, stall, ..self }
    }

    /// Copies the plan of the run that this thread watches.
    pub(crate) fn copy(&self, plan: &Plan) -> Plan {
        (self.copy)(plan)
    }

    /// Calls `work`, which runs `line`, while this thread watches.
    pub(crate) fn watch(self, line: &Line<'_>, run: &Run, plan: &Plan, work: &dyn Fn()) {
        (self.watched)(line, run, plan, self, work);
    }

    /// Answers questions and watches for stalls until the run is over. If the user's function panics, `fail`
    /// gets the payload.
    fn run(
        mut self,
        registered: &Registered,
        look: impl Fn() -> Snapshot,
        fail: impl Fn(Box<dyn Any + Send>),
    ) {
        let shared = &registered.monitor.shared;
        let mut state = shared.lock();
        let mut answered = registered.from;
        let mut seen: Option<Vec<u64>> = None;
        let mut asked = Instant::now();
        loop {
            if *fork::lock(&registered.over) {
                return;
            }
            if state.question > answered {
                answered = state.question;
                let answer = look();
                state.answers.push(answer);
                state.missing -= 1;
                shared.changed.notify_all();
            }
            let Some((after, call)) = &mut self.stall else {
                state = shared.wait(state);
                continue;
            };
            let (next, timeout) = shared
                .changed
                .wait_timeout_while(state, after.saturating_sub(asked.elapsed()), |state| {
                    state.question == answered && !registered.is_over()
                })
                .unwrap_or_else(PoisonError::into_inner);
            state = next;
            if timeout.timed_out() {
                asked = Instant::now();
                let snapshot = look();
                let now: Vec<u64> = snapshot.nodes.iter().map(|node| node.taken).collect();
                if seen.as_ref() == Some(&now) {
                    drop(state);
                    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| call(&snapshot))) {
                        fail(payload);
                        self.stall = None;
                    }
                    state = shared.lock();
                }
                seen = Some(now);
            }
        }
    }
}

/// A run that a monitor asks: its monitoring thread ends when the run says that it is over.
struct Registered {
    monitor: Monitor,
    from: u64,
    over: Mutex<bool>,
}

impl Registered {
    fn new(monitor: Monitor) -> Self {
        let mut state = monitor.shared.lock();
        while state.missing > 0 {
            state = monitor.shared.wait(state);
        }
        state.streams += 1;
        state.birth = Some(Birth::here());
        let from = state.question;
        drop(state);
        Self { monitor, from, over: Mutex::new(false) }
    }

    fn is_over(&self) -> bool {
        *fork::lock(&self.over)
    }

    /// Ends the registration. Later questions do not expect an answer from this run.
    fn end(&self) {
        let shared = &self.monitor.shared;
        let mut state = shared.lock();
        while state.missing > 0 {
            // The monitoring thread is still running and will answer.
            state = shared.wait(state);
        }
        state.streams -= 1;
        *fork::lock(&self.over) = true;
        drop(state);
        shared.changed.notify_all();
    }
}

/// Says when it is dropped that the run is over, also when that panics.
struct Over<'r>(&'r Registered);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}
