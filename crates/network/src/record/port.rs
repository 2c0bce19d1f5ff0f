//! A view of a record of either form. One to one is faster, and its users need not know it.

use super::burst::{Items, OwningSide, ReadSide, Slots, WriteSide};
use super::many::{ReadView, WriteView};
use super::one::{Reader, Writer};
use super::store::Store;
use super::{Closed, Deal, Dealt, Owning, Sleep, TryStallError};

/// The writing view of a record.
pub enum WritePort<T> {
    One(Writer<T>),
    Many(WriteView<T, Dealt>),
}

/// The reading view of a record.
pub enum ReadPort<T, R: Deal> {
    One(Reader<T>),
    Many(ReadView<T, R>),
}

macro_rules! either {
    ($port:expr, $view:ident => $call:expr) => {
        match $port {
            Self::One($view) => $call,
            Self::Many($view) => $call,
        }
    };
}

// SAFETY: the view inside keeps the promises.
unsafe impl<T> WriteSide for WritePort<T> {
    type Item = T;

    #[inline]
    fn store(&self, index: u64) -> &Store<T> {
        either!(self, view => view.store(index))
    }

    #[inline]
    fn open(&mut self, end: u64) -> u64 {
        either!(self, view => view.open(end))
    }

    #[inline]
    fn publish(&mut self, index: u64) {
        either!(self, view => view.publish(index));
    }
}

// SAFETY: the view inside keeps the promises.
unsafe impl<T, R: Deal> ReadSide for ReadPort<T, R> {
    type Item = T;

    #[inline]
    fn store(&self, index: u64) -> &Store<T> {
        either!(self, view => view.store(index))
    }

    #[inline]
    fn owns(&self) -> bool {
        either!(self, view => view.owns())
    }

    #[inline]
    fn open(&mut self) -> u64 {
        either!(self, view => view.open())
    }

    #[inline]
    fn advance(&mut self, index: u64) {
        either!(self, view => view.advance(index));
    }

    #[inline]
    fn publish(&mut self) {
        either!(self, view => view.publish());
    }

    #[inline]
    fn finish(&self) {
        either!(self, view => view.finish());
    }
}

impl<T, R: Owning> OwningSide for ReadPort<T, R> {}

impl<T> WritePort<T> {
    /// Reserves `n` slots if it need not wait for them.
    #[inline]
    pub(crate) fn try_stall(&mut self, n: usize) -> Result<Slots<'_, Self>, TryStallError> {
        let end = either!(self, view => view.reserve(n, false))?;
        Ok(Slots::new(self, end))
    }

    /// Reserves `n` slots, and sleeps by means of `how` until there is room. Returns `None` if `how` has given up.
    #[inline]
    pub(crate) fn stall_by(&mut self, n: usize, how: &impl Sleep) -> Option<Result<Slots<'_, Self>, Closed>> {
        Some(either!(self, view => view.reserve_by(n, how))?.map(|end| Slots::new(self, end)))
    }
}

impl<T, R: Deal> ReadPort<T, R> {
    /// The next `n` items, if they are committed or if the stream has ended.
    #[inline]
    pub(crate) fn try_receive(&mut self, n: usize) -> Option<Items<'_, Self>> {
        let end = either!(self, view => view.await_items(n, false))?;
        Some(Items::new(self, end))
    }

    /// The next `n` items. Sleeps by means of `how` until they are there. There are none if `how` has given up.
    #[inline]
    pub(crate) fn receive_by(&mut self, n: usize, how: &impl Sleep) -> Items<'_, Self> {
        let end = either!(self, view => view.await_items_by(n, how)).unwrap_or(self.index());
        Items::new(self, end)
    }

    /// The next `n` items, or none if it would have to wait for them.
    #[inline]
    pub(crate) fn receive_ready(&mut self, n: usize) -> Items<'_, Self> {
        let end = either!(self, view => view.await_items(n, false)).unwrap_or(self.index());
        Items::new(self, end)
    }

    /// A burst without items.
    pub(crate) fn nothing(&mut self) -> Items<'_, Self> {
        let end = self.index();
        Items::new(self, end)
    }

    /// Begins to fetch the next `n` items into the cache.
    pub(crate) fn ask(&mut self, n: usize) {
        either!(self, view => view.ask(n));
    }
}

/// The methods of ports of both directions.
macro_rules! port {
    ([$($generics:tt)*] $port:ty) => {
        impl<$($generics)*> $port {
            /// The index of the next item that the view will commit or receive.
            #[inline]
            pub(crate) fn index(&self) -> u64 {
                either!(self, view => view.index())
            }

            /// Announces that the view is about to wait, for room or for items.
            pub(crate) fn announce(&self) {
                either!(self, view => view.announce());
            }

            /// Takes back the announcement.
            pub(crate) fn withdraw(&self) {
                either!(self, view => view.withdraw());
            }

            /// Makes the view at least `n` items wide, if it can become wider.
            pub(crate) fn widen(&mut self, n: usize) {
                if let Self::Many(view) = self
                    && n > view.horizon()
                {
                    view.widen(n);
                }
            }

            /// Leaves the id to a successor, if there can be one.
            pub(crate) fn leave(self) {
                if let Self::Many(view) = self {
                    view.leave();
                }
            }
        }
    };
}

port!([T] WritePort<T>);
port!([T, R: Deal] ReadPort<T, R>);
