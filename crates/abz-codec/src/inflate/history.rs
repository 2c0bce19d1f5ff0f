//! The last contents, to which later data may refer, and the symbols of which they consist.

/// The largest distance of a reference in deflate data, in bytes (RFC 1951, section 2).
pub const WINDOW: usize = 32 << 10;

/// A symbol of decoded contents: a byte, or a [byte or marker](MARKER).
pub trait Slot: Copy + From<u8> + Send + 'static {}

impl Slot for u8 {}

/// The lowest marker. A marker stands for a byte in the window before the place where decoding began. It is `MARKER`
/// plus the index of that byte in the window, from 0 to [`WINDOW`] less one.
pub const MARKER: u16 = WINDOW as u16;

impl Slot for u16 {}

/// The last contents of a stream, before those of the current step.
pub(crate) struct History<T> {
    /// The last contents are the `len` slots before `end`, at most [`WINDOW`].
    slots: Box<[T]>,
    end: usize,
    len: usize,
}

impl<T: Slot> History<T> {
    /// Creates the empty history at the start of a stream.
    pub(crate) fn new() -> Self {
        History { slots: vec![T::from(0); 2 * WINDOW].into_boxed_slice(), end: 0, len: 0 }
    }

    /// Replaces the history by the last [`WINDOW`] of these contents.
    pub(crate) fn set(&mut self, contents: &[T]) {
        (self.end, self.len) = (0, 0);
        self.push(contents);
    }

    /// Returns the last contents, as far as they are known.
    pub(crate) fn last(&self) -> &[T] {
        &self.slots[self.end - self.len..self.end]
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Appends contents.
    pub(crate) fn push(&mut self, contents: &[T]) {
        let contents = &contents[contents.len().saturating_sub(WINDOW)..];
        if self.end + contents.len() > self.slots.len() {
            let kept = WINDOW - contents.len();
            self.slots.copy_within(self.end - kept..self.end, 0);
            self.end = kept;
        }
        self.slots[self.end..][..contents.len()].copy_from_slice(contents);
        self.end += contents.len();
        self.len = WINDOW.min(self.len + contents.len());
    }

    /// Copies a match that begins before the contents of this step, which are `out[..at]`. The history must have all of
    /// the distance.
    #[cold]
    #[inline(never)]
    pub(crate) fn copy(&self, out: &mut [T], at: usize, distance: usize, len: usize) {
        let back = distance - at;
        let first = back.min(len);
        out[at..at + first].copy_from_slice(&self.slots[self.end - back..][..first]);
        for to in at + first..at + len {
            out[to] = out[to - distance];
        }
    }
}
