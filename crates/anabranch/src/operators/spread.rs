//! Stages that give any number of items for each item, in order. The items behind them have a window of their own.

use anabranch_plan::Node;

use crate::engine::{Pulled, Spread};
use crate::stream::options::ForSerial;
use crate::stream::{Admit, Mode, Stream, TryStream};

impl<'env, T: Send + 'env, M: Mode<Error: 'env>, O> Stream<'env, T, M, O> {
    /// Turns each item into any number of items, for example a file into blocks. It takes one item at a time,
    /// in order. The results are passed on one by one, and the stages behind may process them in parallel.
    ///
    /// The results have indices and a window of their own. While this window is full, the iterator is not
    /// asked for more.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let sum: u64 = Stream::from_iter([3u64, 0, 2])
    ///     .serial_flat_map(|count| (0..count).map(move |n| 10 * count + n))
    ///     .map(|n| n * n) // the items of one count run in parallel too
    ///     .fold(0, |sum, n| sum + n);
    /// assert_eq!(sum, 30 * 30 + 31 * 31 + 32 * 32 + 20 * 20 + 21 * 21);
    /// ```
    #[track_caller]
    pub fn serial_flat_map<J, F>(self, f: F) -> Stream<'env, J::Item, M>
    where
        O: ForSerial,
        J: IntoIterator<Item: Send + 'env, IntoIter: Send + 'env>,
        F: FnMut(T) -> J + Send + 'env,
    {
        self.spreading(Node::serial("serial_flat_map"), SpreadEach { call: f, open: None })
    }

    /// Like [`serial_flat_map`](Self::serial_flat_map), with iterators over results. The first error ends the
    /// stream.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let numbers = |line: &'static str| line.split(' ').map(str::parse::<u32>);
    /// assert_eq!(Stream::from_iter(["1 2", "3"]).try_serial_flat_map(numbers).sum::<u32>(), Ok(6));
    /// assert!(Stream::from_iter(["1 x", "3"]).try_serial_flat_map(numbers).sum::<u32>().is_err());
    /// ```
    #[track_caller]
    pub fn try_serial_flat_map<V, E, J, F>(self, f: F) -> TryStream<'env, V, M::Failure>
    where
        O: ForSerial,
        V: Send + 'env,
        E: 'env,
        M: Admit<E, Failure: 'env>,
        J: IntoIterator<Item = Result<V, E>, IntoIter: Send + 'env>,
        F: FnMut(T) -> J + Send + 'env,
    {
        let node = Node::serial("try_serial_flat_map").fallible();
        self.admit::<E>().spreading(node, TrySpreadEach { call: f, open: None })
    }

    /// Like [`serial_flat_map`](Self::serial_flat_map), with a state that lasts from one item to the next. An
    /// example is a scanner that finds records in blocks, where a record may begin in one block and end in
    /// another.
    ///
    /// `f` is called with the state and the item until it returns `None`. Then the next item is taken.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// // Words, from blocks that may end within a word.
    /// let blocks = ["to be or n", "ot to", " be "];
    /// let words = Stream::from_iter(blocks).serial_spread(String::new(), |word, block: &mut &str| {
    ///     while let Some(letter) = block.chars().next() {
    ///         *block = &block[letter.len_utf8()..];
    ///         match letter {
    ///             ' ' if word.is_empty() => {}
    ///             ' ' => return Some(std::mem::take(word)),
    ///             _ => word.push(letter),
    ///         }
    ///     }
    ///     None
    /// });
    /// assert_eq!(words.collect::<Vec<_>>(), ["to", "be", "or", "not", "to", "be"]);
    /// ```
    #[track_caller]
    pub fn serial_spread<L, V, F>(self, state: L, mut f: F) -> Stream<'env, V, M>
    where
        O: ForSerial,
        L: Send + 'env,
        V: Send + 'env,
        F: FnMut(&mut L, &mut T) -> Option<V> + Send + 'env,
    {
        let call = move |state: &mut L, item: &mut T| Ok::<_, M::Error>(f(state, item));
        self.spreading(Node::serial("serial_spread"), SpreadWith { state, open: None, call })
    }

    /// Like [`serial_spread`](Self::serial_spread), with a function that may fail. The first error ends the
    /// stream.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// // The even digits of each number, from the last one on. An 8 is an error.
    /// let digits = Stream::from_iter([241u32, 63]).try_serial_spread((), |(), rest: &mut u32| {
    ///     while *rest > 0 {
    ///         let digit = *rest % 10;
    ///         *rest /= 10;
    ///         match digit {
    ///             8 => return Err("eight"),
    ///             digit if digit % 2 == 0 => return Ok(Some(digit)),
    ///             _ => {}
    ///         }
    ///     }
    ///     Ok(None)
    /// });
    /// assert_eq!(digits.collect(), Ok(vec![4, 2, 6]));
    /// ```
    #[track_caller]
    pub fn try_serial_spread<L, V, E, F>(self, state: L, f: F) -> TryStream<'env, V, M::Failure>
    where
        O: ForSerial,
        L: Send + 'env,
        V: Send + 'env,
        E: 'env,
        M: Admit<E, Failure: 'env>,
        F: FnMut(&mut L, &mut T) -> Result<Option<V>, E> + Send + 'env,
    {
        let node = Node::serial("try_serial_spread").fallible();
        self.admit::<E>().spreading(node, SpreadWith { state, open: None, call: f })
    }

    /// Splits the batches that a [`flat_map`](Self::flat_map) has made into single items. Each item gets an
    /// index of its own, in a new window. The stages behind can therefore process the items of one batch in
    /// parallel.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let letters = Stream::from_iter(["ab", "c"]).flat_map(|word| word.chars()).spread();
    /// assert_eq!(letters.map(|letter| letter.to_ascii_uppercase()).collect::<String>(), "ABC");
    /// ```
    #[track_caller]
    pub fn spread(self) -> Stream<'env, T, M>
    where
        O: ForSerial,
    {
        self.spreading(Node::serial("spread"), SpreadOnly(None))
    }
}

/// A spreading stage made of a function that returns an iterator for each item.
#[derive(Debug)]
pub struct SpreadEach<F, I> {
    pub(crate) call: F,
    pub(crate) open: Option<I>,
}

impl<T, E, J: IntoIterator<Item: Send>, F: FnMut(T) -> J + Send> Spread<T, E> for SpreadEach<F, J::IntoIter>
where
    J::IntoIter: Send,
{
    type Out = J::Item;

    fn open(&mut self, item: T) {
        self.open = Some((self.call)(item).into_iter());
    }

    #[inline]
    fn next(&mut self) -> Pulled<J::Item, E> {
        match self.open.as_mut().and_then(Iterator::next) {
            Some(item) => Pulled::Item(item),
            None => {
                self.open = None;
                Pulled::End
            }
        }
    }
}

/// A spreading stage made of a function that returns an iterator over results for each item.
#[derive(Debug)]
pub struct TrySpreadEach<F, I> {
    pub(crate) call: F,
    pub(crate) open: Option<I>,
}

impl<T, U: Send, X, E: From<X>, J: IntoIterator<Item = Result<U, X>>, F: FnMut(T) -> J + Send> Spread<T, E>
    for TrySpreadEach<F, J::IntoIter>
where
    J::IntoIter: Send,
{
    type Out = U;

    fn open(&mut self, item: T) {
        self.open = Some((self.call)(item).into_iter());
    }

    #[inline]
    fn next(&mut self) -> Pulled<U, E> {
        match self.open.as_mut().and_then(Iterator::next) {
            Some(Ok(item)) => Pulled::Item(item),
            Some(Err(error)) => Pulled::Fail(error.into()),
            None => {
                self.open = None;
                Pulled::End
            }
        }
    }
}

/// A spreading stage with a state of its own. Its function is called with the state and the open item until
/// it returns `None`.
pub(crate) struct SpreadWith<L, T, F> {
    pub(crate) state: L,
    pub(crate) open: Option<T>,
    pub(crate) call: F,
}

impl<L: Send, T: Send, U: Send, X, E: From<X>, F> Spread<T, E> for SpreadWith<L, T, F>
where
    F: FnMut(&mut L, &mut T) -> Result<Option<U>, X> + Send,
{
    type Out = U;

    fn open(&mut self, item: T) {
        self.open = Some(item);
    }

    #[inline]
    fn next(&mut self) -> Pulled<U, E> {
        let Self { state, open, call } = self;
        match open.as_mut().map(|item| call(state, item)) {
            Some(Ok(Some(item))) => Pulled::Item(item),
            Some(Err(error)) => Pulled::Fail(error.into()),
            Some(Ok(None)) | None => {
                self.open = None;
                Pulled::End
            }
        }
    }
}

/// A spreading stage that passes on each item as it is.
#[derive(Debug)]
pub struct SpreadOnly<T>(pub(crate) Option<T>);

impl<T: Send, E> Spread<T, E> for SpreadOnly<T> {
    type Out = T;

    fn open(&mut self, item: T) {
        self.0 = Some(item);
    }

    #[inline]
    fn next(&mut self) -> Pulled<T, E> {
        self.0.take().map_or(Pulled::End, Pulled::Item)
    }
}
