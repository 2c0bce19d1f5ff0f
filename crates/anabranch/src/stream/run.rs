//! Runs a stream: makes its plan, assembles its code, and returns its outcome.

use std::convert::Infallible;
use std::panic::resume_unwind;
use std::sync::Arc as StdArc;
use std::time::{Duration, Instant};

use anabranch_plan::{ItemType, Node, Plan};
use anabranch_record::EventCount;
use anabranch_record::sync::{Arc, Ordering};

use super::Stream;
use super::account::{self, Account, Joins};
use super::attached::{Attached, Handed};
use super::defaults::ANY_END;
use super::draft::Draft;
use crate::control::{CancelToken, Workers};
use crate::engine::state::progress::Reporter;
use crate::engine::{
    self, Assembly, ErrorSlot, ExecutorParts, Line, Outcome, Run, Serial, Upstream, own_events, sink,
};
use crate::measures::Measures;
use crate::report::Report;
use crate::stream::Mode;
use crate::stream::options::ForAll;

impl<'env, T: Send + 'env, M: Mode<Error: 'env>, O> Stream<'env, T, M, O> {
    /// The plan that would run if an end were called now. Nothing runs.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let plan = Stream::from_iter(0..10).named("increment").map(|n| n + 1).plan();
    /// println!("{plan}");
    /// assert!(plan.to_dot().contains("increment"));
    /// ```
    #[track_caller]
    pub fn plan(&self) -> Plan
    where
        O: ForAll,
    {
        self.draft.outline.assert_whole("plan");
        self.draft.planned(Node::sink(ANY_END), ItemType::of::<T>()).0
    }

    /// Runs the stream with the end `op`, whose node in the plan is `sink`. A panic of user code is resumed
    /// here, after every thread has left the run.
    #[track_caller]
    pub(crate) fn run<Op>(self, sink: Node, op: Op) -> Result<(), M::Error>
    where
        Op: Serial<T, M::Error, Out = Infallible> + Send,
    {
        self.draft.outline.assert_whole(&sink.operator);
        let Self { code, errors, draft, .. } = self;
        let mut connect = connecting(code, op, &errors);
        let end = (sink, ItemType::of::<T>());
        match run(draft, end, &mut connect) {
            Outcome::Complete => Ok(()),
            Outcome::Error => Err(errors.take().expect("an error that was noted")),
            Outcome::Panic(payload) => resume_unwind(payload),
        }
    }
}

/// Connects the code of a stream to an assembly, with the reporter of its progress.
pub(crate) type Connect<'c, 'run> = dyn FnMut(&mut Assembly<'run>, Option<Reporter<'run>>) + 'c;

/// Returns what connects the code of a stream and its end to an assembly, once.
pub(crate) fn connecting<'c, 'run, T, E, Op>(
    code: Box<dyn Upstream<T> + 'run>,
    op: Op,
    errors: &'c Arc<ErrorSlot<E>>,
) -> impl FnMut(&mut Assembly<'run>, Option<Reporter<'run>>) + 'c
where
    'run: 'c,
    T: Send + 'run,
    E: Send + 'run,
    Op: Serial<T, E, Out = Infallible> + Send + 'run,
{
    let mut parts = Some((code, op));
    move |assembly, reporter| {
        let (code, op) = parts.take().expect("a stream is connected once");
        let consumer = sink(assembly, op, errors, reporter);
        code.connect(assembly, consumer);
    }
}

/// Runs the code that `connect` connects. The function has no type of a stream, so it is compiled once for
/// all streams.
fn run<'run>(
    mut draft: Box<Draft<'run>>,
    (end, item): (Node, ItemType),
    connect: &mut Connect<'_, 'run>,
) -> Outcome {
    let draft = &mut *draft;
    draft.outline.close(end, item, &draft.attached);
    let attached = &mut draft.attached;
    let plan = std::mem::replace(&mut draft.outline.plan, Plan::empty());
    let is_watched = attached.is_watched();
    let finish = attached.finish;
    let measures = (finish.is_some() || is_watched).then(|| {
        let window = plan.domains.iter().map(|domain| domain.window).max().unwrap_or(1);
        Measures::new(plan.nodes.len(), window, plan.settings.workers, attached.traces && finish.is_some())
    });
    let waiter = attached.outside.as_ref().map(|outside| &outside.waiter.event);
    let own = own_events(&plan, waiter);
    let dedicated: Vec<Arc<EventCount>> = own.iter().flatten().cloned().collect();
    // The thread that runs the stream alone waits for the source at its waiter. A run that stops wakes it there.
    let event = waiter.filter(|_| own.is_empty()).cloned();
    attached.handle = attached.handle.take().filter(|_| !draft.outline.is_alone);
    let (run, reporter, guard) = set_up(attached, &plan, dedicated, measures, event);
    let (accounts, account) = (guard.accounts(), attached.account.clone());
    // Without a report nobody asks for the time, which a run of a few items would notice.
    let began = finish.map(|_| Instant::now());
    let monitor = attached.watch.take();
    let seen = monitor.as_ref().map(|monitor| monitor.copy(&plan));
    let monitor = std::cell::Cell::new(monitor);
    let watch = |line: &Line<'_>, work: &dyn Fn()| {
        let monitor = monitor.take().expect("a run is watched once");
        monitor.watch(line, &run, seen.as_ref().expect("a plan that is seen"), work);
    };
    let pool = attached.pool.as_ref().map(|pool| &pool.inner);
    let most = attached.most;
    let parts = ExecutorParts { pool, own, most, watch: is_watched.then_some(&watch) };
    let (plan, pulled) = engine::execute(&run, plan, parts, |assembly| connect(assembly, reporter));
    guard.end(pulled);
    let mut report = finish.zip(began).map(|(finish, began)| finish(plan, began.elapsed(), &run));
    if let Some(report) = &mut report {
        report.remarks = std::mem::take(&mut attached.remarks).into_iter().map(|remark| remark()).collect();
        report.streams = accounts.iter().flat_map(|account| account.reports()).collect();
    }
    if let (Some(slot), Some(report)) = (&attached.slot, &report) {
        slot.put(report.clone());
    }
    if let Some(account) = account {
        report.take().into_iter().for_each(|report| account.keep(report));
    }
    std::mem::take(&mut attached.handovers).into_iter().for_each(|handover| handover());
    run.outcome()
}

/// Creates the run of `plan`, whose dedicated threads wait at the events `dedicated`, and connects it to what holds it from outside.
/// The workers wait at `event`, if there is one already.
pub(crate) fn set_up<'run>(
    attached: &mut Attached<'run>,
    plan: &Plan,
    dedicated: Vec<Arc<EventCount>>,
    measures: Option<Measures>,
    event: Option<Arc<EventCount>>,
) -> (Arc<Run>, Option<Reporter<'run>>, Attachment) {
    let mut run = Run::new(plan, dedicated, measures, attached.feed.take(), attached.supply.take());
    if let Some(event) = event {
        run.event = event;
    }
    let run = Arc::new(run);
    if let Some(feed) = &run.feed {
        feed.starts(run.clone());
    }
    let reporter = attached.progress.take().map(|call| Reporter::new(call, Arc::clone(&attached.bytes)));
    let attachment = Attachment::new(attached, plan, &run);
    (run, reporter, attachment)
}

pub(super) fn finished(plan: Plan, wall: Duration, run: &Run) -> Report {
    Report::new(plan, wall, run.measures().expect("a run that is reported is measured"))
}

/// Connects a run to its tokens, its handle of workers, and the streams inside of it. Dropping it disconnects them, which happens
/// too if user code panics through a direct line.
pub(crate) struct Attachment {
    tokens: Vec<CancelToken>,
    /// The tokens of the streams around this one, and the token by which its source learns that the run stops.
    others: Vec<CancelToken>,
    handle: Option<Workers>,
    run: Arc<Run>,
    /// How many items were pulled.
    pulled: u64,
    /// The accounts of the streams inside of this one.
    inner: Vec<(Joins, StdArc<Account>)>,
    /// The account of the stream around this one, if there is one.
    outer: Option<StdArc<Account>>,
    is_one_domain: bool,
}

impl Attachment {
    /// Connects a run of `plan`, which is about to begin, and lets the streams inside of it run.
    ///
    /// # Panics
    /// If the system cannot create a thread for such a stream.
    pub(crate) fn new(attached: &mut Attached<'_>, plan: &Plan, run: &Arc<Run>) -> Self {
        let handed = (!attached.inner.is_empty()).then(|| Handed::of(attached, plan));
        #[cfg(feature = "futures")]
        attached.runtime.settle();
        let mut others = std::mem::take(&mut attached.outer_tokens);
        attached.begin();
        others.extend(attached.outside.as_ref().map(|outside| outside.waiter.run.clone()));
        let inner = std::mem::take(&mut attached.inner);
        let attachment = Self {
            tokens: std::mem::take(&mut attached.tokens),
            others,
            handle: attached.handle.take(),
            run: Arc::clone(run),
            pulled: 0,
            inner: inner.iter().map(|inner| (inner.joins, StdArc::clone(&inner.account))).collect(),
            outer: attached.account.clone(),
            is_one_domain: plan.domains.len() == 1,
        };
        for token in attachment.tokens.iter().chain(&attachment.others) {
            token.attach(run);
        }
        if let Some(handle) = &attachment.handle {
            handle.attach(run);
        }
        for inner in inner {
            (inner.start)(handed.as_ref().expect("a stream with others inside hands its settings to them"));
        }
        attachment
    }

    /// The accounts of the streams inside.
    pub(crate) fn accounts(&self) -> Vec<StdArc<Account>> {
        self.inner.iter().map(|(_, account)| StdArc::clone(account)).collect()
    }

    /// Disconnects the run, which is over and has pulled this many items.
    pub(crate) fn end(mut self, pulled: u64) {
        self.pulled = pulled;
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        let delivered = self.run.delivered.load(Ordering::Relaxed);
        let came = self.run.supply.as_ref().map_or(self.pulled, |supply| supply.accepted());
        let counts = account::stopped(&self.inner, came, delivered, self.is_one_domain);
        if let Some(outer) = &self.outer {
            outer.add(counts);
        }
        for token in &self.tokens {
            token.detach(&self.run, Some(counts));
        }
        for token in &self.others {
            token.detach(&self.run, None);
        }
        if let Some(handle) = &self.handle {
            handle.detach(&self.run);
        }
    }
}
