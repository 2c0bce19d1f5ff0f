//! Parts of a stream: what `Iterator` takes and skips by number or by a condition.

use std::ops::ControlFlow;

use anabranch_plan::Node;

use crate::engine::{Flow, Halt, Serial};
use crate::stream::options::ForSerial;
use crate::stream::{Mode, Stream};

impl<'env, T: Send + 'env, M: Mode<Error: 'env>, O> Stream<'env, T, M, O> {
    /// Passes on `count` items, and ends the stream with the last of them.
    ///
    /// The source may have given up to one window of items more. If `count` is 0, the stream does not call its source and the stages
    /// before `take`, and its plan does not have these stages. In a branch or a feedback, the first item ends the stream instead.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// assert_eq!(Stream::from_iter(1..).map(|n| n * n).take(3).collect::<Vec<_>>(), [1, 4, 9]);
    /// ```
    pub fn take(mut self, count: usize) -> Stream<'env, T, M>
    where
        O: ForSerial,
    {
        if count == 0 && self.draft.outline.is_main_line() {
            self = self.emptied();
        }
        self.stage(Node::serial("take"), Take { left: count })
    }

    /// Passes on items while `f` returns `true`. The first item for which `f` returns `false` is dropped and
    /// ends the stream.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let squares = Stream::from_iter(1..).map(|n| n * n).take_while(|square| *square < 20);
    /// assert_eq!(squares.collect::<Vec<_>>(), [1, 4, 9, 16]);
    /// ```
    pub fn take_while<F>(self, mut f: F) -> Stream<'env, T, M>
    where
        O: ForSerial,
        F: FnMut(&T) -> bool + Send + 'env,
    {
        self.serial_while(Node::serial("take_while"), move |item| f(&item).then_some(item))
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
        O: ForSerial,
        V: Send + 'env,
        F: FnMut(T) -> Option<V> + Send + 'env,
    {
        self.serial_while(Node::serial("map_while"), f)
    }

    /// Drops the first `count` items.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// assert_eq!(Stream::from_iter(0..5).skip(3).collect::<Vec<_>>(), [3, 4]);
    /// ```
    pub fn skip(self, count: usize) -> Stream<'env, T, M>
    where
        O: ForSerial,
    {
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
    pub fn step_by(self, step: usize) -> Stream<'env, T, M>
    where
        O: ForSerial,
    {
        assert!(step > 0, "`step_by(0)`: a step is 1 item or more");
        let mut left = 0;
        let passes = move |item| {
            let is_kept = left == 0;
            left = if is_kept { step - 1 } else { left - 1 };
            is_kept.then_some(item)
        };
        self.serial_each(Node::serial("step_by"), passes)
    }
}

/// A serial stage that passes on the first items, and ends the stream with the last of them.
struct Take {
    left: usize,
}

impl<T: Send, E> Serial<T, E> for Take {
    type Out = T;

    #[inline]
    fn one(&mut self, item: T, given: &mut Option<T>) -> Flow<E> {
        if self.left == 0 {
            return ControlFlow::Break(Halt::Break);
        }
        self.left -= 1;
        *given = Some(item);
        if self.left == 0 { ControlFlow::Break(Halt::Break) } else { ControlFlow::Continue(()) }
    }
}
