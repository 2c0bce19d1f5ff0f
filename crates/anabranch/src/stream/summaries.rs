//! Ends that compute one value from all items, as `Iterator` has them.

use std::iter::Sum;
use std::ops::ControlFlow;

use anabranch_plan::Node;
use anabranch_record::sync::Padded;

use super::options::ForAll;
use super::{Admit, Mode, Stream};
use crate::engine::Halt;

impl<'env, T: Send + 'env, M: Mode<Error: 'env>, O> Stream<'env, T, M, O> {
    /// Adds the items up, in order. The result is the same as that of the iterator's `sum`, bit for bit. If
    /// an addition takes long, use [`reduce`](Self::reduce), which adds in parallel.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let total: u64 = Stream::from_slice(&["never", "odd"]).map(|word| word.len() as u64).sum();
    /// assert_eq!(total, 8);
    /// ```
    #[track_caller]
    pub fn sum<S>(self) -> M::Output<S>
    where
        O: ForAll,
        S: Sum<T> + Sum<S> + Send,
    {
        let none = std::iter::empty::<S>().sum();
        self.folded("sum", none, |sum: S, item| [sum, std::iter::once(item).sum()].into_iter().sum())
    }

    /// Returns the least item, or `None` if there are no items. It is the first of several equal items.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let lengths = Stream::from_iter(["never", "odd", "or", "even"]).map(|word| word.len());
    /// assert_eq!(lengths.min(), Some(2));
    /// ```
    #[track_caller]
    pub fn min(self) -> M::Output<Option<T>>
    where
        O: ForAll,
        T: Ord,
    {
        self.reduced("min", |least, item| least > item)
    }

    /// Returns the greatest item, or `None` if there are no items. It is the last of several equal items.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// assert_eq!(Stream::from_iter([3, 1, 4, 1, 5]).max(), Some(5));
    /// ```
    #[track_caller]
    pub fn max(self) -> M::Output<Option<T>>
    where
        O: ForAll,
        T: Ord,
    {
        self.reduced("max", |greatest, item| greatest <= item)
    }

    /// Folds the items, in order, until `f` fails. Returns the first failure of the stream, whether `f` or a
    /// stage has failed.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let sum = |most: u8| Stream::from_iter(1..=most).try_fold(0u8, |sum, n| sum.checked_add(n).ok_or(n));
    /// assert_eq!(sum(22), Ok(253));
    /// assert_eq!(sum(23), Err(23));
    /// ```
    #[track_caller]
    pub fn try_fold<A, E, F>(self, init: A, mut f: F) -> Result<A, M::Failure>
    where
        O: ForAll,
        A: Send,
        M: Admit<E, Failure: 'env>,
        F: FnMut(A, T) -> Result<A, E> + Send,
    {
        let mut held = Padded::new(Some(init));
        let cell = &mut *held;
        let ended = self.admit::<E>().run_into(Node::sink("try_fold").fallible(), move |item| {
            if let Some(value) = cell.take() {
                match f(value, item) {
                    Ok(value) => *cell = Some(value),
                    Err(error) => return ControlFlow::Break(Halt::Error(error.into())),
                }
            }
            ControlFlow::Continue(())
        });
        let held = held.into_inner();
        ended.map(|()| held.expect("a fold that did not fail has its value"))
    }

    /// Like [`fold`](Self::fold), for an end with its own name in the plan.
    #[track_caller]
    pub(crate) fn folded<A: Send>(
        self,
        name: &'static str,
        init: A,
        mut f: impl FnMut(A, T) -> A + Send,
    ) -> M::Output<A> {
        // Each item takes the value out and puts it back, because `f` takes it by value. After a panic of `f`
        // there is no value.
        let mut last = None;
        let mut held = Folded { value: Some(init), last: &mut last };
        let ended = self.run_into(Node::sink(name), move |item| {
            let held = &mut held;
            if let Some(value) = held.value.take() {
                held.value = Some(f(value, item));
            }
            ControlFlow::Continue(())
        });
        let result = ended.map(|()| last.expect("a fold that did not panic has its value"));
        M::output(result)
    }

    /// Keeps one item. Another item replaces it if `f` returns `true` for the two.
    #[track_caller]
    fn reduced(self, name: &'static str, mut f: impl FnMut(&T, &T) -> bool + Send) -> M::Output<Option<T>> {
        let mut held = Padded::new(None);
        let best = &mut *held;
        let ended = self.run_into(Node::sink(name), move |item| {
            if best.as_ref().is_none_or(|best| f(best, &item)) {
                *best = Some(item);
            }
            ControlFlow::Continue(())
        });
        M::output(ended.map(|()| held.into_inner()))
    }
}

/// The value of a fold, in the sink's own memory. So the compiler can keep it in a register through a block of items.
struct Folded<'l, A> {
    value: Option<A>,
    /// The place for the value when the run is over.
    last: &'l mut Option<A>,
}

impl<A> Drop for Folded<'_, A> {
    fn drop(&mut self) {
        *self.last = self.value.take();
    }
}
