//! Options of a stage. They stand before their stage.
//!
//! [`named`](Stream::named) and [`cost`](Stream::cost) go before each stage and each end, [`replicas`](Stream::replicas) before a
//! parallel stage, and [`dedicated`](Stream::dedicated) before a serial one. Until that stage follows, the stream has a type of its
//! own, so options in a wrong place do not compile:
//!
//! ```compile_fail,E0277
//! use anabranch::Stream;
//!
//! let stream = Stream::from_iter(0..10).replicas(4).serial_map(|n| n + 1); // a serial stage has no replicas
//! ```
//!
//! ```compile_fail,E0599
//! use anabranch::Stream;
//!
//! let stream = Stream::from_iter(0..10).named("add").workers(4).map(|n| n + 1); // a setting between an option and its stage
//! ```
//!
//! The options of a source are those of [`Source`](crate::Source). Settings, such as [`workers`](Stream::workers) and
//! [`window`](Stream::window), hold for the whole run, and stand anywhere else.

use std::marker::PhantomData;
use std::time::Duration;

use anabranch_plan::{Node, Placement};

use super::{Mode, Stream};

/// The next stage or end has a name or a cost.
#[derive(Debug, Clone, Copy)]
pub struct Named;

/// The next stage has a number of replicas.
#[derive(Debug, Clone, Copy)]
pub struct Replicated;

/// The next stage has a thread of its own.
#[derive(Debug, Clone, Copy)]
pub struct Dedicated;

/// Options of the next stage: `()` if there are none.
pub trait Options {
    /// These options, with a name or a cost.
    type Named: Options;
}

/// Options of a stage that runs for several items at once.
#[diagnostic::on_unimplemented(
    message = "`dedicated()` stands before a stage that runs for several items at once",
    label = "this stage has no thread of its own",
    note = "only serial stages have threads of their own, and a source by `Source::dedicated`"
)]
pub trait ForParallel: Options {}

/// Options of a stage that runs for one item at a time, in order.
#[diagnostic::on_unimplemented(
    message = "`replicas(..)` stands before a stage that runs for one item at a time",
    label = "this stage has no replicas",
    note = "only parallel stages such as `map` have replicas"
)]
pub trait ForSerial: Options {}

/// Options that every stage and every end may have.
#[diagnostic::on_unimplemented(
    message = "`replicas(..)` or `dedicated()` stands before a method that says itself how it runs",
    label = "takes only `named(..)` and `cost(..)`",
    note = "the arguments of this method, if any, bound what runs at once"
)]
pub trait ForAll: ForParallel + ForSerial {}

impl Options for () {
    type Named = Named;
}

impl Options for Named {
    type Named = Named;
}

impl Options for Replicated {
    type Named = Replicated;
}

impl Options for Dedicated {
    type Named = Dedicated;
}

impl ForParallel for () {}
impl ForParallel for Named {}
impl ForParallel for Replicated {}

impl ForSerial for () {}
impl ForSerial for Named {}
impl ForSerial for Dedicated {}

impl ForAll for () {}
impl ForAll for Named {}

/// The values of the options of the next stage.
#[derive(Debug, Clone, Default)]
pub(crate) struct Next {
    name: Option<String>,
    cost: Option<u64>,
    replicas: Option<usize>,
    is_dedicated: bool,
}

impl Next {
    /// Gives the options to a node.
    pub(crate) fn apply(self, node: &mut Node) {
        let Self { name, cost, replicas, is_dedicated } = self;
        if let Some(name) = name {
            node.name = name.into();
        }
        node.cost = cost.or(node.cost);
        node.replicas = replicas.or(node.replicas);
        if is_dedicated {
            node.placement = Placement::Dedicated;
        }
    }
}

/// A cost in the unit of plans.
pub(crate) fn nanoseconds(cost: Duration) -> u64 {
    u64::try_from(cost.as_nanos()).unwrap_or(u64::MAX)
}

impl<'env, T: Send + 'env, M: Mode<Error: 'env>, O> Stream<'env, T, M, O> {
    /// Names the next stage or end, for plans and reports.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let stream = Stream::from_iter(0..10).named("square").map(|n| n * n);
    /// assert_eq!(stream.plan().nodes[1].name, "square");
    /// assert_eq!(stream.named("add").sum::<u64>(), 285);
    /// ```
    pub fn named(mut self, name: impl Into<String>) -> Stream<'env, T, M, O::Named>
    where
        O: Options,
    {
        self.next().name = Some(name.into());
        self.with_options()
    }

    /// Sets the mean time that the next stage or end takes for an item. Predictions and [passes](Self::passes) use it.
    ///
    /// ```
    /// use std::time::Duration;
    /// use anabranch::Stream;
    ///
    /// let stream = Stream::from_iter(0..100).cost(Duration::from_micros(3)).map(|n| n + 1);
    /// assert_eq!(stream.plan().nodes[1].cost, Some(3_000)); // in nanoseconds
    /// ```
    pub fn cost(mut self, cost: Duration) -> Stream<'env, T, M, O::Named>
    where
        O: Options,
    {
        self.next().cost = Some(nanoseconds(cost));
        self.with_options()
    }

    /// Lets the next stage, a parallel one, run for at most `replicas` items at once. `None` sets no bound. If the number of
    /// workers is not set, it is raised to `replicas`, so that stages which sleep overlap.
    ///
    /// ```
    /// use std::time::Duration;
    /// use anabranch::Stream;
    ///
    /// // 20 calls that sleep overlap, also on a machine with fewer processors.
    /// let stream = Stream::from_iter(0..40).replicas(20).map(|n| { std::thread::sleep(Duration::from_millis(1)); n });
    /// assert!(stream.plan().settings.workers >= 20);
    /// assert_eq!(stream.count(), 40);
    /// ```
    ///
    /// # Panics
    /// If `replicas` is 0.
    #[track_caller]
    pub fn replicas(mut self, replicas: impl Into<Option<usize>>) -> Stream<'env, T, M, Replicated>
    where
        O: ForParallel,
    {
        let replicas = replicas.into();
        assert!(replicas != Some(0), "`replicas(0)`: a stage has 1 replica or more");
        self.next().replicas = replicas;
        self.with_options()
    }

    /// Gives the next stage, a serial one, a thread of its own, which does not count as a worker. Use it for a stage that blocks.
    ///
    /// With one worker and a source that blocks, give the source [such a thread](crate::Source::dedicated) too. Otherwise the
    /// worker may wait in the source while the results of this stage wait for the worker.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let mut log = Vec::new();
    /// let stream = Stream::from_iter(0..100).map(|n| n * n);
    /// let logged = stream.dedicated().serial_map(|n| { log.push(n); n }); // a thread that only logs
    /// assert_eq!(logged.count(), 100);
    /// assert_eq!(log[99], 9_801);
    /// ```
    pub fn dedicated(mut self) -> Stream<'env, T, M, Dedicated>
    where
        O: ForSerial,
    {
        self.next().is_dedicated = true;
        self.with_options()
    }

    /// Adds the stages of `prepare`. The options apply to the stage after them.
    pub(crate) fn prepared<V: Send>(
        mut self,
        prepare: impl FnOnce(Stream<'env, T, M>) -> Stream<'env, V, M>,
    ) -> Stream<'env, V, M> {
        let next = std::mem::take(self.next());
        let mut stream = prepare(self.with_options());
        stream.draft.outline.next = next;
        stream
    }

    fn next(&mut self) -> &mut Next {
        &mut self.draft.outline.next
    }

    fn with_options<P>(self) -> Stream<'env, T, M, P> {
        let Self { code, errors, draft, .. } = self;
        Stream { code, errors, draft, mode: PhantomData }
    }
}
