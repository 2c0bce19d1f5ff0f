//! The contents that later ones may refer to, and the symbols they are made of.

/// How far back deflate refers, in bytes (RFC 1951, section 2).
pub const WINDOW: usize = 32 << 10;

/// What decoded contents are made of: bytes, or [bytes and markers](MARKER).
pub trait Slot: Copy + From<u8> + Send + 'static {}

impl Slot for u8 {}

/// The lowest marker. A marker is this and a place in the window before the place where decoding began, in which the first
/// byte has the place 0 and the last one [`WINDOW`] less one; it stands for the byte there.
pub const MARKER: u16 = WINDOW as u16;

impl Slot for u16 {}

/// The last contents of a stream, before those of a step.
pub(crate) struct History<T> {
    /// Those before `end` are the last contents, of which `len` are known, at most [`WINDOW`].
    slots: Box<[T]>,
    end: usize,
    len: usize,
}

impl<T: Slot> History<T> {
    /// At the start of a stream.
    pub(crate) fn new() -> Self {
        History { slots: vec![T::from(0); 2 * WINDOW].into_boxed_slice(), end: 0, len: 0 }
    }

    /// Behind these, of which only the last [`WINDOW`] count.
    pub(crate) fn set(&mut self, contents: &[T]) {
        (self.end, self.len) = (0, 0);
        self.push(contents);
    }

    /// What is known of the last contents.
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

    /// Copies a match that begins before the step's contents, which lie in `out` up to `at`. All of the distance is known.
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
