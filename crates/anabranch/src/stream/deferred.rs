//! Items that need the results of other items.

use std::sync::Arc;

use anabranch_plan::Node;

use super::Stream;
use crate::deferred::{InOrder, Issue, Schedule, Unmet};
use crate::mode::{Admit, ErrorAfter, Mode};

impl<'env, T: Send + 'env, M: Mode<Error: 'env>> Stream<'env, T, M> {
    /// Turns each item into another with the results of other items, which may be earlier or later in the stream: the frames
    /// of a video that refer to other frames, for example.
    ///
    /// `needs` is called with the number of an item, beginning at 0, and the item. It returns the numbers of the items whose
    /// results the item needs; it runs for one item at a time, in order. `f` is called with the item and these results, in
    /// the same order, for several items at once. A worker never waits for a result: it goes on with other items. An item runs
    /// once the last result that it needs is there. The results come out in the order of the items, in `Arc`s, because other
    /// items may still need them.
    ///
    /// An item may need items that are at most `reach` before or behind it. If these need later items in turn, and so on, all
    /// of them must be at most `reach` behind the first. At most `reach` items more than one [`window`](Self::window) have come
    /// and are not behind the stage: they wait, or run, or are done behind one that is not. The items before the stage and
    /// the results behind it have a window each beside that. The stage also keeps up to 2 times `reach` results that later
    /// items may need.
    ///
    /// # Errors
    /// The stream fails with [`Unmet`] at the first item that never gets what it needs: because items wait for each other
    /// in a cycle, because an item is out of reach, or because the stream ends before it. In a stream with another error,
    /// use [`try_map_needing`](Self::try_map_needing).
    ///
    /// ```
    /// use anabranch::{Stream, Unmet};
    ///
    /// // Frames: each second one lies between its neighbours.
    /// let frames = [10, 0, 20, 0, 40];
    /// let between = |number: u64, _: &u32| match number % 2 {
    ///     0 => vec![],
    ///     _ => vec![number - 1, number + 1],
    /// };
    /// let decoded = Stream::from_iter(frames).map_needing(2, between, |frame, others| match others {
    ///     [before, behind] => (**before + **behind) / 2,
    ///     _ => frame,
    /// });
    /// assert_eq!(decoded.map(|frame| *frame).collect::<Vec<_>>(), Ok(vec![10, 15, 20, 30, 40]));
    ///
    /// // Items 1 and 2 wait for each other.
    /// let needs = |number: u64, _: &u32| (number == 1 || number == 2).then_some(3 - number);
    /// let stuck = Stream::from_iter(frames).map_needing(2, needs, |frame, _| frame);
    /// assert_eq!(stuck.count(), Err(Unmet::Cycle { items: vec![1, 2] }));
    /// ```
    #[doc(alias = "defer")]
    pub fn map_needing<V, N, I, F, X>(self, reach: usize, needs: N, f: F) -> Stream<'env, Arc<V>, X>
    where
        M: Admit<Unmet, Then = X>,
        X: Mode<Error: From<Unmet> + 'env>,
        V: Send + Sync + 'env,
        N: FnMut(u64, &T) -> I + Send + 'env,
        I: IntoIterator<Item = u64>,
        F: Fn(T, &[Arc<V>]) -> V + Send + Sync + 'env,
    {
        self.try_map_needing(reach, needs, move |item, needed: &[Arc<V>]| Ok::<V, Unmet>(f(item, needed)))
    }

    /// Like [`map_needing`](Self::map_needing), with a function that may fail. The stream ends with the failure of the first
    /// item that fails or that needs, directly or not, an item that fails.
    ///
    /// ```
    /// use anabranch::{Stream, Unmet};
    ///
    /// #[derive(Debug, PartialEq)]
    /// enum Trouble {
    ///     Broken(u32),
    ///     Unmet(Unmet),
    /// }
    ///
    /// impl From<Unmet> for Trouble {
    ///     fn from(unmet: Unmet) -> Self {
    ///         Trouble::Unmet(unmet)
    ///     }
    /// }
    ///
    /// let decode = |frame, _: &[_]| if frame == 7 { Err(Trouble::Broken(frame)) } else { Ok(frame) };
    /// let frames = Stream::from_iter([1, 7, 2]).try_map_needing(1, |number, _| number.checked_sub(1), decode);
    /// assert_eq!(frames.count(), Err(Trouble::Broken(7)));
    /// ```
    pub fn try_map_needing<V, E, N, I, F>(self, reach: usize, needs: N, f: F) -> Stream<'env, Arc<V>, M::Then>
    where
        M: Admit<E>,
        E: From<Unmet> + Send + 'env,
        ErrorAfter<M, E>: 'env,
        V: Send + Sync + 'env,
        N: FnMut(u64, &T) -> I + Send + 'env,
        I: IntoIterator<Item = u64>,
        F: Fn(T, &[Arc<V>]) -> Result<V, E> + Send + Sync + 'env,
    {
        let schedule = Schedule::new(reach);
        let issue = Issue::new(reach, needs, Arc::clone(&schedule));
        let in_order = InOrder::new(Arc::clone(&schedule));
        let issued = self.admit::<E>().spreading(Node::serial("issue"), issue);
        let call = move |task| Some(schedule.call(task, &f));
        let computed = issued.each(Node::parallel("map_needing"), call);
        computed.spreading(Node::serial("in_order").fallible(), in_order)
    }
}
