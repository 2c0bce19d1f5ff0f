//! Ends: the methods that run a stream and return its result.

use std::marker::PhantomData;
use std::ops::ControlFlow;

use anabranch_plan::Node;
use anabranch_record::sync::{Arc, Padded};

use super::options::ForAll;
use super::{Admit, Mode, Stream};
use crate::engine::{Flow, Halt, Last};

/// The number of items in a leaf of the tree of a reduction.
const LEAF_ITEMS: usize = 256;

/// A container that items can be [collected](Stream::collect) into.
#[diagnostic::on_unimplemented(
    message = "items `{T}` cannot be collected into `{Self}`",
    label = "no container that begins empty and takes these items",
    note = "to collect items that are `Result`s until the first error, write `.try_map(|result| result).collect::<Vec<_>>()`",
    note = "to put items into a container that is there, write `.for_each(|item| container.push(item))`"
)]
pub trait Container<T>: Default + Extend<T> {}

#[diagnostic::do_not_recommend]
impl<T, C: Default + Extend<T>> Container<T> for C {}

impl<'env, T: Send + 'env, M: Mode<Error: 'env>, O> Stream<'env, T, M, O> {
    /// Runs the stream with `f` as its end. `f` may stop the stream.
    #[track_caller]
    pub(crate) fn run_into<F>(self, sink: Node, f: F) -> Result<(), M::Error>
    where
        F: FnMut(T) -> Flow<M::Error> + Send,
    {
        self.run(sink, Last(f, PhantomData))
    }

    /// Calls `f` with each item, in order.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let mut text = String::new();
    /// Stream::from_iter(["down", "river"]).map(str::to_uppercase).for_each(|word| text += &word);
    /// assert_eq!(text, "DOWNRIVER");
    /// ```
    #[track_caller]
    pub fn for_each<F>(self, mut f: F) -> M::Output<()>
    where
        O: ForAll,
        F: FnMut(T) + Send,
    {
        M::output(self.run_into(Node::sink("for_each"), |item| {
            f(item);
            ControlFlow::Continue(())
        }))
    }

    /// Calls `f` with each item, in order, until it fails. Returns the first failure of the stream, which may
    /// come from `f` or from a stage.
    ///
    /// ```
    /// use std::io::Write;
    /// use anabranch::Stream;
    ///
    /// let mut output = Vec::new();
    /// Stream::from_iter(["down", "river"]).map(str::to_uppercase).try_for_each(|word| writeln!(output, "{word}"))?;
    /// assert_eq!(output, b"DOWN\nRIVER\n");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn try_for_each<E, F>(self, mut f: F) -> Result<(), M::Failure>
    where
        O: ForAll,
        M: Admit<E, Failure: 'env>,
        F: FnMut(T) -> Result<(), E> + Send,
    {
        self.admit::<E>().run_into(Node::sink("try_for_each").fallible(), |item| match f(item) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(Halt::Error(error.into())),
        })
    }

    /// Folds the items, in order.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let text = Stream::from_iter(1..=3).map(|n| n * n).fold(String::new(), |text, n| format!("{text}{n};"));
    /// assert_eq!(text, "1;4;9;");
    /// ```
    #[track_caller]
    pub fn fold<A, F>(self, init: A, f: F) -> M::Output<A>
    where
        O: ForAll,
        A: Send,
        F: FnMut(A, T) -> A + Send,
    {
        self.folded("fold", init, f)
    }

    /// Collects the items, in order, into a new container.
    ///
    /// ```
    /// use std::collections::BTreeSet;
    /// use anabranch::Stream;
    ///
    /// let lengths: BTreeSet<usize> = Stream::from_iter(["never", "odd", "or", "not"]).map(str::len).collect();
    /// assert_eq!(lengths, BTreeSet::from([2, 3, 5]));
    /// ```
    #[track_caller]
    pub fn collect<C>(self) -> M::Output<C>
    where
        O: ForAll,
        C: Container<T> + Send,
    {
        let mut container = Padded::new(C::default());
        let target = &mut *container;
        let ended = self.run_into(Node::sink("collect"), move |item| {
            target.extend(std::iter::once(item));
            ControlFlow::Continue(())
        });
        M::output(ended.map(|()| container.into_inner()))
    }

    /// Combines all items into one, in parallel. Returns `None` if there are no items.
    ///
    /// The items are combined along a fixed tree: groups of 256 items from left to right, and then the
    /// results of the groups from left to right. The result is therefore the same, bit for bit, for any
    /// number of workers, even if `f` is not quite associative, as with floating-point numbers.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let terms = || Stream::from_iter(1..10_000).map(|n| 1.0 / f64::from(n));
    /// assert_eq!(terms().workers(4).reduce(|a, b| a + b), terms().inline().reduce(|a, b| a + b));
    /// ```
    #[track_caller]
    pub fn reduce<F>(self, f: F) -> M::Output<Option<T>>
    where
        O: ForAll,
        F: Fn(T, T) -> T + Send + Sync + 'env,
    {
        let f = Arc::new(f);
        let leaf = Arc::clone(&f);
        let mut all = Padded::new(None);
        let place = &mut *all;
        let ended = self
            .prepared(|items| {
                items.chunks(LEAF_ITEMS).filter_map(move |leaf_items| leaf_items.into_iter().reduce(&*leaf))
            })
            .run_into(Node::sink("reduce"), move |item| {
                *place = Some(match place.take() {
                    Some(all) => f(all, item),
                    None => item,
                });
                ControlFlow::Continue(())
            });
        M::output(ended.map(|()| all.into_inner()))
    }

    /// Counts the items.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// assert_eq!(Stream::from_iter(1..=100).filter(|n| n % 7 == 0).count(), 14);
    /// ```
    #[track_caller]
    pub fn count(self) -> M::Output<usize>
    where
        O: ForAll,
    {
        self.folded("count", 0, |count, _| count + 1)
    }

    /// Returns the first item for which `f` returns `true`. `f` is not called for the items after it.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// assert_eq!(Stream::from_iter(1..).map(|n| n * n).find(|square| square % 10 == 6), Some(16));
    /// ```
    #[track_caller]
    pub fn find<F>(self, mut f: F) -> M::Output<Option<T>>
    where
        O: ForAll,
        F: FnMut(&T) -> bool + Send,
    {
        let mut found = None;
        let place = &mut found;
        let ended = self.run_into(Node::sink("find"), move |item| {
            if f(&item) {
                *place = Some(item);
                return ControlFlow::Break(Halt::Break);
            }
            ControlFlow::Continue(())
        });
        M::output(ended.map(|()| found))
    }

    /// Whether `f` returns `true` for any item. `f` is not called for the items after the first such item.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// assert!(Stream::from_iter(1..).map(|n| n * n).any(|square| square > 1_000));
    /// ```
    #[track_caller]
    pub fn any<F>(self, mut f: F) -> M::Output<bool>
    where
        O: ForAll,
        F: FnMut(T) -> bool + Send,
    {
        let mut found = Padded::new(false);
        let place = &mut *found;
        let ended = self.run_into(Node::sink("any"), move |item| {
            *place = f(item);
            if *place { ControlFlow::Break(Halt::Break) } else { ControlFlow::Continue(()) }
        });
        M::output(ended.map(|()| found.into_inner()))
    }

    /// Whether `f` returns `true` for every item. `f` is not called for the items after the first `false`.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// assert!(!Stream::from_iter(1..).map(|n| n * n).all(|square| square < 1_000));
    /// ```
    #[track_caller]
    pub fn all<F>(self, mut f: F) -> M::Output<bool>
    where
        O: ForAll,
        F: FnMut(T) -> bool + Send,
    {
        let mut holds = Padded::new(true);
        let place = &mut *holds;
        let ended = self.run_into(Node::sink("all"), move |item| {
            *place = f(item);
            if *place { ControlFlow::Continue(()) } else { ControlFlow::Break(Halt::Break) }
        });
        M::output(ended.map(|()| holds.into_inner()))
    }
}
