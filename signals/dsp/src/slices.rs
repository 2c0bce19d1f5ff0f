//! The items of a firing as one slice.
//!
//! A burst lies in one piece in the memory of its record, unless it wraps around the end of that memory. Then
//! it is copied. With a horizon that is a multiple of the burst this does not happen.

use anabranch_network::{All, Dealt, Fill, Window};

/// The items that a rule sees.
pub(crate) trait Seen<T> {
    fn count(&self) -> usize;
    fn each_slice(&self, f: impl FnMut(usize, &[T]));
}

impl<T> Seen<T> for Window<'_, T, Dealt> {
    fn count(&self) -> usize {
        self.len()
    }

    fn each_slice(&self, f: impl FnMut(usize, &[T])) {
        self.with_slices(f);
    }
}

impl<T> Seen<T> for Window<'_, T, All> {
    fn count(&self) -> usize {
        self.len()
    }

    fn each_slice(&self, f: impl FnMut(usize, &[T])) {
        self.with_slices(f);
    }
}

/// Memory for bursts that wrap around.
#[derive(Debug, Default)]
pub(crate) struct Joined<T>(Vec<T>);

impl<T: Copy + Default> Joined<T> {
    pub(crate) fn new() -> Self {
        Self(Vec::new())
    }

    /// Calls `f` with all items of the window.
    pub(crate) fn read(&mut self, window: &impl Seen<T>, f: impl FnOnce(&[T])) {
        let (mut f, count) = (Some(f), window.count());
        window.each_slice(|at, slice| {
            if slice.len() < count {
                self.0.truncate(at);
                self.0.extend_from_slice(slice);
            } else if let Some(f) = f.take() {
                f(slice);
            }
        });
        if let Some(f) = f {
            f(&self.0);
        }
    }

    /// Calls `f` with all slots of the firing, which it writes. If no reader is left, `f` may not be called.
    pub(crate) fn write(&mut self, fill: &mut Fill<'_, T>, f: impl FnOnce(&mut [T])) {
        let (mut f, count) = (Some(f), fill.left());
        fill.with_slices(|at, slice| {
            if slice.len() == count {
                if let Some(f) = f.take() {
                    f(slice);
                }
                return;
            }
            if let Some(f) = f.take() {
                self.0.resize(count, T::default());
                f(&mut self.0);
            }
            slice.copy_from_slice(&self.0[at..at + slice.len()]);
        });
    }
}
