//! Ends that compute one value from all items, as `Iterator` and itertools have them.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::Hash;
use std::iter::{Product, Sum};
use std::ops::ControlFlow;

use anabranch_plan::Node;
use anabranch_record::sync::Padded;

use super::{Admit, ErrorAfter, Mode, Stream};
use crate::engine::{Flow, Halt};

impl<'env, T: Send + 'env, M: Mode<Error: 'env>> Stream<'env, T, M> {
    /// Adds the items up, in order. The result is the same as that of the iterator's `sum`, bit for bit. If
    /// an addition takes long, use [`reduce`](Self::reduce), which adds in parallel.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let total: u64 = Stream::from_slice(&["never", "odd"]).map(|word| word.len() as u64).sum();
    /// assert_eq!(total, 8);
    /// ```
    pub fn sum<S>(self) -> M::Output<S>
    where
        S: Sum<T> + Sum<S> + Send,
    {
        let none = std::iter::empty::<S>().sum();
        self.folded("sum", none, |sum: S, item| [sum, std::iter::once(item).sum()].into_iter().sum())
    }

    /// Multiplies the items, in order.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// assert_eq!(Stream::from_iter(1..=5u32).product::<u32>(), 120);
    /// ```
    pub fn product<S>(self) -> M::Output<S>
    where
        S: Product<T> + Product<S> + Send,
    {
        let none = std::iter::empty::<S>().product();
        let times = |all: S, item| [all, std::iter::once(item).product()].into_iter().product();
        self.folded("product", none, times)
    }

    /// Returns the least item, or `None` if there are no items. Of several equal items it is the first.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let lengths = Stream::from_iter(["never", "odd", "or", "even"]).map(|word| word.len());
    /// assert_eq!(lengths.min(), Some(2));
    /// ```
    pub fn min(self) -> M::Output<Option<T>>
    where
        T: Ord,
    {
        self.min_by(Ord::cmp)
    }

    /// Returns the greatest item, or `None` if there are no items. Of several equal items it is the last.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// assert_eq!(Stream::from_iter([3, 1, 4, 1, 5]).max(), Some(5));
    /// ```
    pub fn max(self) -> M::Output<Option<T>>
    where
        T: Ord,
    {
        self.max_by(Ord::cmp)
    }

    /// Returns the least item by the comparison `f`. Of several equal items it is the first.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// assert_eq!(Stream::from_iter([2.5, 1.5, 3.5]).min_by(|a: &f64, b| a.total_cmp(b)), Some(1.5));
    /// ```
    pub fn min_by<F>(self, mut f: F) -> M::Output<Option<T>>
    where
        F: FnMut(&T, &T) -> Ordering + Send,
    {
        self.reduced("min", move |best, item| f(best, item).is_gt())
    }

    /// Returns the greatest item by the comparison `f`. Of several equal items it is the last.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// assert_eq!(Stream::from_iter([2.5, 1.5, 3.5]).max_by(|a: &f64, b| a.total_cmp(b)), Some(3.5));
    /// ```
    pub fn max_by<F>(self, mut f: F) -> M::Output<Option<T>>
    where
        F: FnMut(&T, &T) -> Ordering + Send,
    {
        self.reduced("max", move |best, item| f(best, item).is_le())
    }

    /// Returns the item with the least key. Of several with equal keys it is the first. `f` is called once
    /// for each item.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// assert_eq!(Stream::from_iter(["never", "odd", "or"]).min_by_key(|word| word.len()), Some("or"));
    /// ```
    pub fn min_by_key<K, F>(self, f: F) -> M::Output<Option<T>>
    where
        K: Ord + Send,
        F: FnMut(&T) -> K + Send,
    {
        self.by_key("min_by_key", f, |old, new| new < old)
    }

    /// Returns the item with the greatest key. Of several with equal keys it is the last. `f` is called once
    /// for each item.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// assert_eq!(Stream::from_iter(["odd", "or", "even"]).max_by_key(|word| word.len()), Some("even"));
    /// ```
    pub fn max_by_key<K, F>(self, f: F) -> M::Output<Option<T>>
    where
        K: Ord + Send,
        F: FnMut(&T) -> K + Send,
    {
        self.by_key("max_by_key", f, |old, new| new >= old)
    }

    /// Returns the last item, or `None` if there are no items.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// assert_eq!(Stream::from_iter(1..=5).map(|n| n * n).last(), Some(25));
    /// ```
    pub fn last(self) -> M::Output<Option<T>> {
        self.reduced("last", |_, _| true)
    }

    /// Returns item `n`, counted from 0. The end does not look at the items after it.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// assert_eq!(Stream::from_iter(1..).map(|n| n * n).nth(3), Some(16));
    /// ```
    pub fn nth(self, n: usize) -> M::Output<Option<T>> {
        let mut before = n;
        self.find_in("nth", move |item| {
            if before == 0 {
                return Some(item);
            }
            before -= 1;
            None
        })
    }

    /// Returns the index of the first item for which `f` returns `true`. The end does not look at the items
    /// after it.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// assert_eq!(Stream::from_iter(1..).map(|n| n * n).position(|n| n > 50), Some(7));
    /// ```
    pub fn position<F>(self, mut f: F) -> M::Output<Option<usize>>
    where
        F: FnMut(T) -> bool + Send,
    {
        let mut next = 0;
        self.find_in("position", move |item| {
            next += 1;
            f(item).then(|| next - 1)
        })
    }

    /// Returns the first value that `f` returns for an item. The end does not look at the items after it.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let number = Stream::from_iter(["x", "2", "3"]).find_map(|word| word.parse::<u32>().ok());
    /// assert_eq!(number, Some(2));
    /// ```
    pub fn find_map<V, F>(self, f: F) -> M::Output<Option<V>>
    where
        V: Send,
        F: FnMut(T) -> Option<V> + Send,
    {
        self.find_in("find_map", f)
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
    pub fn try_fold<A, E, F>(self, init: A, mut f: F) -> <M::Then as Mode>::Output<A>
    where
        A: Send,
        M: Admit<E>,
        ErrorAfter<M, E>: 'env,
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
        let result = ended.result.map(|()| held.expect("a fold that did not fail has its value"));
        <M::Then as Mode>::output(result, ended.report)
    }

    /// Collects the items into two containers, each in order: those for which `f` returns `true`, and the
    /// others.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let (even, odd): (Vec<u32>, Vec<u32>) = Stream::from_iter(1..=5).partition(|n| n % 2 == 0);
    /// assert_eq!((even, odd), (vec![2, 4], vec![1, 3, 5]));
    /// ```
    pub fn partition<C, F>(self, mut f: F) -> M::Output<(C, C)>
    where
        C: Default + Extend<T> + Send,
        F: FnMut(&T) -> bool + Send,
    {
        self.folded("partition", <(C, C)>::default(), move |(mut yes, mut no), item| {
            let side = if f(&item) { &mut yes } else { &mut no };
            side.extend(std::iter::once(item));
            (yes, no)
        })
    }

    /// Counts the items with each key.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let counts = Stream::from_iter(["never", "odd", "even", "or"]).count_by_key(|word| word.len() % 2);
    /// assert_eq!((counts[&0], counts[&1]), (2, 2));
    /// ```
    #[doc(alias = "counts_by")]
    pub fn count_by_key<K, F>(self, mut f: F) -> M::Output<HashMap<K, usize>>
    where
        K: Eq + Hash + Send,
        F: FnMut(&T) -> K + Send,
    {
        self.folded("count_by_key", HashMap::new(), move |mut counts, item| {
            *counts.entry(f(&item)).or_default() += 1;
            counts
        })
    }

    /// Like [`fold`](Self::fold), for an end with its own name in the plan.
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
        let value = last.expect("a fold that did not panic has its value");
        ended.output::<M, _>(value)
    }

    /// Keeps one item. Another item replaces it if `f` returns `true` for the two.
    fn reduced(self, name: &'static str, mut f: impl FnMut(&T, &T) -> bool + Send) -> M::Output<Option<T>> {
        let mut held = Padded::new(None);
        let best = &mut *held;
        let ended = self.run_into(Node::sink(name), move |item| {
            if best.as_ref().is_none_or(|best| f(best, &item)) {
                *best = Some(item);
            }
            ControlFlow::Continue(())
        });
        ended.output::<M, _>(held.into_inner())
    }

    /// Keeps one item by its key: `f` compares the key of the kept item with that of each later item.
    fn by_key<K: Send>(
        self,
        name: &'static str,
        mut key: impl FnMut(&T) -> K + Send,
        mut f: impl FnMut(&K, &K) -> bool + Send,
    ) -> M::Output<Option<T>> {
        let mut held: Padded<Option<(K, T)>> = Padded::new(None);
        let best = &mut *held;
        let ended = self.run_into(Node::sink(name), move |item| {
            let new = key(&item);
            if best.as_ref().is_none_or(|(old, _)| f(old, &new)) {
                *best = Some((new, item));
            }
            ControlFlow::Continue(())
        });
        ended.output::<M, _>(held.into_inner().map(|(_, item)| item))
    }

    /// Ends the stream at the first item for which `f` returns a value.
    fn find_in<V: Send>(
        self,
        name: &'static str,
        mut f: impl FnMut(T) -> Option<V> + Send,
    ) -> M::Output<Option<V>> {
        let mut found = Padded::new(None);
        let place = &mut *found;
        let ended = self.run_into(Node::sink(name), move |item| -> Flow<M::Error> {
            *place = f(item);
            if place.is_some() { ControlFlow::Break(Halt::Break) } else { ControlFlow::Continue(()) }
        });
        ended.output::<M, _>(found.into_inner())
    }
}

impl<'env, A: Send + 'env, B: Send + 'env, M: Mode<Error: 'env>> Stream<'env, (A, B), M> {
    /// Collects pairs into two containers: the first values, and the second values.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let (words, lengths): (Vec<_>, Vec<_>) =
    ///     Stream::from_iter(["never", "odd"]).map(|word| (word, word.len())).unzip();
    /// assert_eq!((words, lengths), (vec!["never", "odd"], vec![5, 3]));
    /// ```
    pub fn unzip<C, D>(self) -> M::Output<(C, D)>
    where
        C: Default + Extend<A> + Send,
        D: Default + Extend<B> + Send,
    {
        self.folded("unzip", <(C, D)>::default(), |(mut first, mut second), (a, b)| {
            first.extend(std::iter::once(a));
            second.extend(std::iter::once(b));
            (first, second)
        })
    }
}

impl<'env, T: Send + 'env, E: Send + 'env, M: Mode<Error: 'env>> Stream<'env, Result<T, E>, M> {
    /// Collects the values of items that are `Result`s, in order. The first error ends the stream and is
    /// returned.
    ///
    /// ```
    /// use std::num::ParseIntError;
    /// use anabranch::Stream;
    ///
    /// let numbers = |words: &'static [&str]| Stream::from_slice(words).map(|word| word.parse::<u32>());
    /// assert_eq!(numbers(&["1", "2"]).try_collect::<Vec<_>>(), Ok(vec![1, 2]));
    /// assert!(numbers(&["1", "x"]).try_collect::<Vec<_>>().is_err());
    /// ```
    pub fn try_collect<C>(self) -> <M::Then as Mode>::Output<C>
    where
        M: Admit<E>,
        ErrorAfter<M, E>: 'env,
        C: Default + Extend<T> + Send,
    {
        self.try_fold(C::default(), |mut all, item| {
            all.extend(std::iter::once(item?));
            Ok(all)
        })
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
