//! Items put together into vectors: by number, by a key, or as they are ready.

use std::convert::Infallible;

use anabranch_plan::Node;

use super::operator::{Operator, Results};
use super::spread::SpreadOnly;
use crate::engine::{Pulled, Spread};
use crate::stream::options::ForSerial;
use crate::stream::{Mode, Stream};

impl<'env, T: Send + 'env, M: Mode<Error: 'env>, O> Stream<'env, T, M, O> {
    /// Gathers items into vectors of `size` items. The last vector may be shorter.
    ///
    /// While the source waits, a vector waits with it. If it should not, use [`ready_chunks`](Self::ready_chunks).
    ///
    /// Items in an unfinished vector do not count in the window.
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
    pub fn chunks(self, size: usize) -> Stream<'env, Vec<T>, M>
    where
        O: ForSerial,
    {
        assert!(size > 0, "`chunks(0)`: a chunk holds 1 item or more");
        self.operated(Node::serial("chunks"), Chunks { size, gathered: Vec::new() })
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
    #[track_caller]
    pub fn chunk_by<K, F>(self, key: F) -> Stream<'env, (K, Vec<T>), M>
    where
        O: ForSerial,
        K: PartialEq + Send + 'env,
        F: FnMut(&T) -> K + Send + 'env,
    {
        let groups = self.operated(Node::serial("chunk_by"), ChunkBy { key, open: None });
        groups.spreading(Node::serial("chunk_by"), SpreadOnly(None))
    }

    /// Gathers the items that are ready into vectors of at most `most` items. A vector never waits for further items: where
    /// [`chunks`](Self::chunks) keeps five of ten items until the source gives the others, this stage gives the five.
    ///
    /// The end of a vector depends on the moment, so the stage is outside of the promise that a stream gives
    /// [the same output](crate::contract) each time. The items and their order are the same. In a run with one worker,
    /// which takes each item to the end before the next, each vector has one item.
    ///
    /// The name is that of the crate `futures`.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let (sender, requests) = Stream::channel(16);
    /// let (answers, answered) = std::sync::mpsc::channel();
    /// let writer = std::thread::spawn(move || {
    ///     requests.workers(2).ready_chunks(10).for_each(|chunk| answers.send(chunk).unwrap());
    /// });
    /// sender.send("one").unwrap();
    /// assert_eq!(answered.recv().unwrap(), ["one"]); // nothing else is posted
    /// drop(sender);
    /// writer.join().unwrap();
    /// ```
    ///
    /// # Panics
    /// If `most` is 0.
    #[track_caller]
    pub fn ready_chunks(self, most: usize) -> Stream<'env, Vec<T>, M>
    where
        O: ForSerial,
    {
        assert!(most > 0, "`ready_chunks(0)`: a chunk holds 1 item or more");
        self.spreading(Node::serial("ready_chunks"), ReadyChunks { most, gives: false, items: Vec::new() })
    }
}

/// A serial stage that gathers items into vectors of `size` items. The last vector may be shorter.
struct Chunks<T> {
    size: usize,
    gathered: Vec<T>,
}

impl<T: Send> Operator<T> for Chunks<T> {
    type Out = Vec<T>;
    type Error = Infallible;
    const GIVES_MANY: bool = false;

    #[inline]
    fn item(&mut self, item: T, results: &mut Results<'_, Vec<T>>) -> Result<(), Infallible> {
        if self.gathered.capacity() == 0 {
            // A very large `size` may never be reached, so the memory for it is not reserved at once.
            self.gathered.reserve(self.size.min(1024));
        }
        self.gathered.push(item);
        if self.gathered.len() == self.size {
            results.give(std::mem::take(&mut self.gathered));
        }
        Ok(())
    }

    fn end(&mut self, results: &mut Results<'_, Vec<T>>) -> Result<(), Infallible> {
        if !self.gathered.is_empty() {
            results.give(std::mem::take(&mut self.gathered));
        }
        Ok(())
    }
}

/// A serial stage that gathers neighbours with the same key.
struct ChunkBy<K, T, F> {
    key: F,
    open: Option<(K, Vec<T>)>,
}

impl<T, K, F> Operator<T> for ChunkBy<K, T, F>
where
    T: Send,
    K: PartialEq + Send,
    F: FnMut(&T) -> K + Send,
{
    type Out = (K, Vec<T>);
    type Error = Infallible;
    const GIVES_MANY: bool = false;

    fn item(&mut self, item: T, results: &mut Results<'_, Self::Out>) -> Result<(), Infallible> {
        let key = (self.key)(&item);
        match &mut self.open {
            Some((open, items)) if *open == key => items.push(item),
            open => results.extend(open.replace((key, vec![item]))),
        }
        Ok(())
    }

    fn end(&mut self, results: &mut Results<'_, Self::Out>) -> Result<(), Infallible> {
        results.extend(self.open.take());
        Ok(())
    }
}

/// A spreading stage that gathers the items that are ready.
#[derive(Debug)]
struct ReadyChunks<T> {
    /// The largest number of items in a chunk.
    most: usize,
    /// Whether the chunk is given, though it could have more items.
    gives: bool,
    items: Vec<T>,
}

impl<T: Send, E> Spread<T, E> for ReadyChunks<T> {
    type Out = Vec<T>;

    fn open(&mut self, item: T) {
        self.items.push(item);
    }

    #[inline]
    fn next(&mut self) -> Pulled<Vec<T>, E> {
        let gives = std::mem::take(&mut self.gives) || self.items.len() == self.most;
        if gives { Pulled::Item(std::mem::take(&mut self.items)) } else { Pulled::End }
    }

    fn holds(&self) -> bool {
        !self.items.is_empty()
    }

    fn idle(&mut self) -> bool {
        self.gives = !self.items.is_empty();
        self.gives
    }
}
