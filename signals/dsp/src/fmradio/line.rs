//! A buffer of items between two stages, which no other stage shares.

/// The items that the next stage has not consumed yet.
#[derive(Debug, Default)]
pub(super) struct Line(Vec<f32>);

impl Line {
    /// Makes room for `count` more items, and lets `write` write them.
    pub(super) fn append<R>(&mut self, count: usize, write: impl FnOnce(&mut [f32]) -> R) -> R {
        let before = self.0.len();
        self.0.resize(before + count, 0.0);
        write(&mut self.0[before..])
    }

    /// Returns whether there are as many items as a stage sees.
    pub(super) fn has(&self, count: usize) -> bool {
        self.0.len() >= count
    }

    pub(super) fn consume(&mut self, count: usize) {
        self.0.drain(..count);
    }

    /// Returns the first `count` items.
    pub(super) fn seen(&self, count: usize) -> &[f32] {
        &self.0[..count]
    }

    /// Appends items from the stage before.
    pub(super) fn extend(&mut self, items: &[f32]) {
        self.0.extend_from_slice(items);
    }
}
