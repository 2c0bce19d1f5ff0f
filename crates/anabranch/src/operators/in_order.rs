//! A serial stage that puts results, which come in any order, into the order of their items.

use std::collections::VecDeque;
use std::panic::resume_unwind;

use anabranch_record::sync::Arc;

use crate::engine::{Kept, KeptPanic, Pulled, Run, Spread};

/// The reason why an item has no result.
pub(super) enum Failure<X> {
    Panic(KeptPanic),
    Error(Kept<X>),
}

/// An item whose result is there, or will never be.
pub(super) trait Finished: Send {
    type Value: Send;
    type Error;

    /// The number of the item. The first is 0.
    fn number(&self) -> u64;

    /// The result; `None` if the item is dropped.
    fn result(self) -> Result<Option<Self::Value>, Failure<Self::Error>>;
}

/// A spreading stage that gives results in the order of their items. It keeps those that come too early.
pub(super) struct InOrder<R, F> {
    /// The number of the next result.
    next: u64,
    /// The results from the next one on. There is a place for each number up to the highest one that has come.
    came: VecDeque<Option<R>>,
    /// The result that is given at once. Only if no order is kept.
    open: Option<R>,
    /// Is told the number of results that have left.
    has_left: F,
    /// Whether the stream's setting decides if the order is kept.
    may_mix: bool,
    keeps_order: bool,
}

impl<R: Finished, F: FnMut(u64) + Send> InOrder<R, F> {
    /// With `may_mix`, it gives results as they come where the stream has given up the order.
    pub(super) fn new(may_mix: bool, has_left: F) -> Self {
        Self { next: 0, came: VecDeque::new(), open: None, has_left, may_mix, keeps_order: true }
    }

    fn take(&mut self) -> Option<R> {
        if !self.keeps_order {
            return self.open.take();
        }
        let result = self.came.front_mut()?.take()?;
        self.came.pop_front();
        Some(result)
    }
}

impl<R, F, E> Spread<R, E> for InOrder<R, F>
where
    R: Finished,
    F: FnMut(u64) + Send,
    E: From<R::Error>,
{
    type Out = R::Value;

    fn starts(&mut self, _: &Arc<Run>, is_ordered: bool) {
        self.keeps_order = is_ordered || !self.may_mix;
    }

    fn open(&mut self, result: R) {
        if !self.keeps_order {
            self.open = Some(result);
            return;
        }
        let at = (result.number() - self.next) as usize;
        if at >= self.came.len() {
            self.came.resize_with(at + 1, || None);
        }
        self.came[at] = Some(result);
    }

    fn next(&mut self) -> Pulled<R::Value, E> {
        while let Some(result) = self.take() {
            self.next += 1;
            (self.has_left)(self.next);
            match result.result() {
                Ok(Some(value)) => return Pulled::Item(value),
                Ok(None) => {}
                Err(Failure::Error(error)) => return Pulled::Fail(error.into_inner().into()),
                Err(Failure::Panic(payload)) => resume_unwind(payload.into_inner()),
            }
        }
        Pulled::End
    }
}
