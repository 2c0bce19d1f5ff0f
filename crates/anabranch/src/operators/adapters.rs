//! Serial stages of `Iterator` and itertools.

use anabranch_plan::Node;

use super::serial::Batch;
use super::spread::{SpreadEach, SpreadOnly};
use crate::operators::order::{ChunkBy, SortedWithin, With};
use crate::stream::{Mode, Stream};

impl<'env, T: Send + 'env, M: Mode<Error: 'env>> Stream<'env, T, M> {
    /// Drops the first `count` items.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// assert_eq!(Stream::from_iter(0..5).skip(3).collect::<Vec<_>>(), [3, 4]);
    /// ```
    pub fn skip(self, count: usize) -> Stream<'env, T, M> {
        let mut left = count;
        let passes = move |item| {
            if left == 0 {
                return Some(item);
            }
            left -= 1;
            None
        };
        self.serial_each(Node::serial("skip"), passes)
    }

    /// Drops the items before the first for which `f` returns `false`.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let words = Stream::from_iter(["", "", "down", "", "river"]).skip_while(|word| word.is_empty());
    /// assert_eq!(words.collect::<Vec<_>>(), ["down", "", "river"]);
    /// ```
    pub fn skip_while<F>(self, mut f: F) -> Stream<'env, T, M>
    where
        F: FnMut(&T) -> bool + Send + 'env,
    {
        let mut skips = true;
        let passes = move |item| {
            skips = skips && f(&item);
            (!skips).then_some(item)
        };
        self.serial_each(Node::serial("skip_while"), passes)
    }

    /// Keeps the first item, and then every `step`th.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// assert_eq!(Stream::from_iter(0..10).step_by(4).collect::<Vec<_>>(), [0, 4, 8]);
    /// ```
    ///
    /// # Panics
    /// If `step` is 0.
    #[track_caller]
    pub fn step_by(self, step: usize) -> Stream<'env, T, M> {
        assert!(step > 0, "a step is 1 item or more, not 0");
        let mut left = 0;
        let passes = move |item| {
            let is_kept = left == 0;
            left = if is_kept { step - 1 } else { left - 1 };
            is_kept.then_some(item)
        };
        self.serial_each(Node::serial("step_by"), passes)
    }

    /// Turns each item into another, in order, until `f` returns `None`: that ends the stream.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let numbers = Stream::from_iter(["1", "2", "end", "3"]).map_while(|word| word.parse::<u32>().ok());
    /// assert_eq!(numbers.collect::<Vec<_>>(), [1, 2]);
    /// ```
    pub fn map_while<V, F>(self, f: F) -> Stream<'env, V, M>
    where
        V: Send + 'env,
        F: FnMut(T) -> Option<V> + Send + 'env,
    {
        self.serial_while(Node::serial("map_while"), f)
    }

    /// Collects each `size` consecutive items into a vector. The last vector may be shorter. This is [`batch`](Self::batch) by
    /// its name in itertools.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let chunks = Stream::from_iter(1..=5).chunks(2);
    /// assert_eq!(chunks.collect::<Vec<_>>(), [vec![1, 2], vec![3, 4], vec![5]]);
    /// ```
    ///
    /// # Panics
    /// If `size` is 0.
    #[track_caller]
    pub fn chunks(self, size: usize) -> Stream<'env, Vec<T>, M> {
        assert!(size > 0, "a chunk holds 1 item or more, not 0");
        self.stage(Node::serial("chunks"), Batch { size, gathered: Vec::new() })
    }

    /// Gathers neighbours with the same key, and gives each group with its key once an item of another key has come.
    ///
    /// The items of the group that is open do not count in the window.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let groups = Stream::from_iter([1, 3, 2, 4, 5]).chunk_by(|n| n % 2);
    /// assert_eq!(groups.collect::<Vec<_>>(), [(1, vec![1, 3]), (0, vec![2, 4]), (1, vec![5])]);
    /// ```
    #[doc(alias = "group_by")]
    pub fn chunk_by<K, F>(self, key: F) -> Stream<'env, (K, Vec<T>), M>
    where
        K: PartialEq + Send + 'env,
        F: FnMut(&T) -> K + Send + 'env,
    {
        let groups = self.stage(Node::serial("chunk_by"), ChunkBy { key, open: None });
        groups.spreading(Node::serial("chunk_by"), SpreadOnly(None))
    }

    /// Drops each item that is equal to the one before it.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// assert_eq!(Stream::from_iter([1, 1, 2, 2, 1]).dedup().collect::<Vec<_>>(), [1, 2, 1]);
    /// ```
    pub fn dedup(self) -> Stream<'env, T, M>
    where
        T: PartialEq + Clone,
    {
        let mut last: Option<T> = None;
        let passes = move |item: T| {
            let is_new = last.as_ref() != Some(&item);
            is_new.then(|| {
                last = Some(item.clone());
                item
            })
        };
        self.serial_each(Node::serial("dedup"), passes)
    }

    /// Drops each item whose key is equal to that of the one before it.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let words = Stream::from_iter(["never", "night", "odd", "night"]).dedup_by_key(|word| word.len());
    /// assert_eq!(words.collect::<Vec<_>>(), ["never", "odd", "night"]);
    /// ```
    pub fn dedup_by_key<K, F>(self, mut key: F) -> Stream<'env, T, M>
    where
        K: PartialEq + Send + 'env,
        F: FnMut(&T) -> K + Send + 'env,
    {
        let mut last = None;
        let passes = move |item| {
            let key = Some(key(&item));
            (last != key).then(|| {
                last = key;
                item
            })
        };
        self.serial_each(Node::serial("dedup_by_key"), passes)
    }

    /// Gives the items of an iterator behind those of the stream.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// assert_eq!(Stream::from_iter(0..2).map(|n| n + 1).chain([7, 8]).collect::<Vec<_>>(), [1, 2, 7, 8]);
    /// ```
    pub fn chain<I>(self, other: I) -> Stream<'env, T, M>
    where
        I: IntoIterator<Item = T, IntoIter: Send + 'env>,
    {
        self.with("chain", other.into_iter(), false)
    }

    /// Alternates between the items of the stream and of an iterator, beginning with the stream. After one of them has ended,
    /// gives the rest of the other.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let both = Stream::from_iter([1, 2, 3]).interleave([10, 20]);
    /// assert_eq!(both.collect::<Vec<_>>(), [1, 10, 2, 20, 3]);
    /// ```
    pub fn interleave<I>(self, other: I) -> Stream<'env, T, M>
    where
        I: IntoIterator<Item = T, IntoIter: Send + 'env>,
    {
        self.with("interleave", other.into_iter(), true)
    }

    fn with<I>(self, name: &'static str, other: I, alternates: bool) -> Stream<'env, T, M>
    where
        I: Iterator<Item = T> + Send + 'env,
    {
        let strands = self.stage(Node::serial(name), With { other: Some(other), alternates });
        strands.spreading(Node::serial(name), SpreadEach { call: |strand| strand, open: None })
    }

    /// Sorts a stream that is nearly sorted: each item is at most `window` places away from its sorted position. It holds
    /// `window` items back, which do not count in the stream's window. Equal items keep their order.
    ///
    /// An item that is further behind comes out as soon as it has come, and so out of order.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let sorted = Stream::from_iter([2, 1, 3, 5, 4]).sorted_within(1);
    /// assert_eq!(sorted.collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    /// ```
    pub fn sorted_within(self, window: usize) -> Stream<'env, T, M>
    where
        T: Ord + Clone,
    {
        self.sorted_within_by_key(window, T::clone)
    }

    /// As [`sorted_within`](Self::sorted_within), by a key: the time of an event, for example. `key` is called once for
    /// each item.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let events = Stream::from_iter([(3, "c"), (1, "a"), (2, "b"), (4, "d")]);
    /// let names = events.sorted_within_by_key(2, |event| event.0).map(|event| event.1);
    /// assert_eq!(names.collect::<String>(), "abcd");
    /// ```
    pub fn sorted_within_by_key<K, F>(self, window: usize, key: F) -> Stream<'env, T, M>
    where
        K: Ord + Send + 'env,
        F: FnMut(&T) -> K + Send + 'env,
    {
        let sorted = self.stage(Node::serial("sorted_within"), SortedWithin::new(window, key));
        sorted.spreading(Node::serial("sorted_within"), SpreadOnly(None))
    }
}

impl<'env, T: Send + 'env, M: Mode<Error: 'env>> Stream<'env, T, M> {
    /// Gives the items that are in each item, as [`flat_map`](Self::flat_map) does.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// assert_eq!(Stream::from_iter([vec![1, 2], vec![3]]).flatten().collect::<Vec<_>>(), [1, 2, 3]);
    /// ```
    pub fn flatten(self) -> Stream<'env, T::Item, M>
    where
        T: IntoIterator<Item: Send + 'env>,
    {
        self.many(Node::parallel("flatten"), |items| items)
    }
}

impl<'env, 'v: 'env, V: Clone + Send + Sync + 'env, M: Mode<Error: 'env>> Stream<'env, &'v V, M> {
    /// Clones what the items refer to.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let words = ["down".to_owned(), "river".to_owned()];
    /// assert_eq!(Stream::from_slice(&words).cloned().collect::<Vec<String>>(), words);
    /// ```
    #[doc(alias = "copied")]
    pub fn cloned(self) -> Stream<'env, V, M> {
        self.each(Node::parallel("cloned"), |item| Some(V::clone(item)))
    }
}
