//! What a serial stage gives for one item: none, one, or some.

use std::iter::{FusedIterator, Once};

/// Items that a serial stage gives at once. One of them takes no memory of its own.
#[derive(Debug)]
pub(crate) enum Few<T> {
    One(T),
    Many(Vec<T>),
}

impl<T> Few<T> {
    /// These items, and others behind them.
    pub(crate) fn then(self, others: Few<T>) -> Self {
        Few::Many(self.into_iter().chain(others).collect())
    }
}

/// The items of [`Few`].
#[derive(Debug)]
pub(crate) enum FewItems<T> {
    One(Once<T>),
    Many(std::vec::IntoIter<T>),
}

impl<T> IntoIterator for Few<T> {
    type Item = T;
    type IntoIter = FewItems<T>;

    fn into_iter(self) -> FewItems<T> {
        match self {
            Few::One(item) => FewItems::One(std::iter::once(item)),
            Few::Many(items) => FewItems::Many(items.into_iter()),
        }
    }
}

impl<T> Iterator for FewItems<T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        match self {
            FewItems::One(item) => item.next(),
            FewItems::Many(items) => items.next(),
        }
    }
}

impl<T> FusedIterator for FewItems<T> {}
