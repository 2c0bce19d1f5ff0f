//! Streams that the threads of a pool run, without a thread of their own.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc as StdArc;

use anabranch_plan::{EdgeKind, Executor, ItemType, Node, Placement, Plan, Wait};
use anabranch_record::fork::Birth;
use anabranch_record::pool::Dispatcher;
use anabranch_record::sync::Arc;

use crate::control::{CancelToken, Pool, PoolShare};
use crate::engine::{self, DetachedParts, Feed, Halt, Last, Outcome, ResultQueue};
use crate::outside::reader::{Reader, Runner};
use crate::outside::results::{Ending, Results};
use crate::stream::{Connect, Draft, Mode, Outside, Stream, connecting, set_up};

/// The parts of a stream that runs without a thread of its own.
struct DetachedStream {
    plan: Plan,
    pool: StdArc<Pool>,
    dispatcher: Dispatcher,
    feed: StdArc<dyn Feed>,
}

/// Checks whether a stream with this end can run on the threads of its pool alone: its pool is shared, its source and its
/// results never let a worker wait, and no part of it asks for a thread.
fn detached_stream(draft: &Draft<'static>, sink: &Node, item: ItemType) -> Option<DetachedStream> {
    let attached = &draft.attached;
    let Some(PoolShare::Shared(pool)) = &attached.pool else { return None };
    let Some(Outside { feed: Some(feed), .. }) = &attached.outside else { return None };
    let settings = &draft.outline.plan.settings;
    if attached.is_watched() || attached.finish.is_some() || settings.executor == Executor::Inline {
        return None;
    }
    let mut outline = draft.outline.clone();
    outline.plan.nodes[0].placement = Placement::Workers;
    outline.close(sink.clone(), item, attached);
    let mut plan = outline.plan;
    let needs_thread = plan.nodes.iter().any(|node| node.placement != Placement::Workers);
    let last = plan.nodes.len() - 1;
    let is_fused = plan.edges.iter().any(|edge| edge.to.0 == last && edge.kind == EdgeKind::Call);
    if needs_thread || is_fused || plan.settings.wait == Wait::Spin {
        return None;
    }
    // One worker is a thread of the pool too.
    plan.settings.executor = Executor::Pool;
    let dispatcher = pool.inner.dispatcher()?;
    Some(DetachedStream { plan, pool: StdArc::clone(pool), dispatcher, feed: StdArc::clone(feed) })
}

impl<T: Send + 'static, M: Mode<Error: 'static> + 'static> Stream<'static, T, M> {
    /// Lets the threads of the stream's pool run it, if it needs no other thread. Up to `capacity` results wait for the reader.
    /// Otherwise it returns the stream unchanged.
    pub(crate) fn detach<V: Send + 'static>(
        self,
        sink: &Node,
        capacity: usize,
        wrap: fn(Result<T, M::Error>) -> V,
    ) -> Result<Reader<V>, Self> {
        let Some(detached_stream) = detached_stream(&self.draft, sink, ItemType::of::<T>()) else {
            return Err(self);
        };
        let token = CancelToken::new();
        let stream = self.cancel_by(&token);
        let Stream { code, errors, mut draft, .. } = stream;
        let results = Results::new(capacity, detached_stream.feed.event());
        let ending = Ending(StdArc::clone(&results));
        let sent = StdArc::clone(&results);
        let send = move |item| match sent.push(wrap(Ok(item))) {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(Halt::Break),
        };
        let handovers = std::mem::take(&mut draft.attached.handovers);
        let slot = Arc::clone(&errors);
        let mut connect = connecting(code, Last(send, std::marker::PhantomData), &slot);
        let queue: StdArc<dyn ResultQueue> = StdArc::clone(&results) as StdArc<dyn ResultQueue>;
        let runner = Runner::Pool { _share: StdArc::clone(&detached_stream.pool) };
        let reader = Reader { birth: Birth::here(), results, token, runner };
        let over = move |outcome: Outcome| {
            let ended = catch_unwind(AssertUnwindSafe(|| {
                handovers.into_iter().for_each(|handover| handover());
                match outcome {
                    Outcome::Complete => Ok(()),
                    Outcome::Error => Err(errors.take().expect("an error that was noted")),
                    Outcome::Panic(payload) => resume_unwind(payload),
                }
            }));
            ending.end(ended, |error| wrap(Err(error)));
        };
        start(draft, detached_stream, queue, &mut connect, Box::new(over));
        Ok(reader)
    }
}

/// Starts a detached run. The function has no type of a stream, so it is compiled once for all streams.
fn start(
    mut draft: Box<Draft<'static>>,
    detached_stream: DetachedStream,
    queue: StdArc<dyn ResultQueue>,
    connect: &mut Connect<'_, 'static>,
    over: Box<dyn FnOnce(Outcome) + Send>,
) {
    let DetachedStream { plan, pool, dispatcher, feed } = detached_stream;
    let attached = &mut draft.attached;
    if let Some(Outside { waiter, .. }) = &attached.outside {
        waiter.detach();
    }
    attached.feed = Some(feed);
    let (run, reporter, attachment) = set_up(attached, &plan, Vec::new(), None, None);
    let ended = Arc::clone(&run);
    let over = move |pulled| {
        attachment.end(pulled);
        // Before the reader is told: it has a share of the pool, and so ends the pool on its own thread.
        drop(pool);
        over(ended.outcome());
    };
    let parts = DetachedParts { dispatcher, queue, most: attached.most, over: Box::new(over) };
    engine::detach(&run, plan, parts, |assembly| connect(assembly, reporter));
}
