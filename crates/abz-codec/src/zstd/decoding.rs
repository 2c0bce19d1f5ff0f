//! What a reader allows, and what it has.

use super::{DEFAULT_WINDOW_LIMIT, Dictionary, MAX_WHOLE, Reference};

/// How frames are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoding {
    /// What the frames may refer to: that with which they were made.
    pub dictionary: Option<Dictionary>,
    /// The file that the frames may refer to, if they are [patches](super::PatchWriter). They are streamed then.
    pub patch_from: Option<Reference>,
    /// The largest window of a frame that is streamed, in bytes: others are refused. One frame takes no more memory than that.
    pub max_window: u64,
    /// Counts instead of that, if there is a limit of memory, in bytes.
    pub memory_limit: Option<u64>,
    /// A frame with more contents is streamed, in bytes; at most [`MAX_WHOLE`].
    pub max_whole: usize,
}

impl Default for Decoding {
    /// No dictionary, windows of [`DEFAULT_WINDOW_LIMIT`], frames of [`MAX_WHOLE`].
    fn default() -> Self {
        Decoding {
            dictionary: None,
            patch_from: None,
            max_window: DEFAULT_WINDOW_LIMIT,
            memory_limit: None,
            max_whole: MAX_WHOLE,
        }
    }
}

impl Decoding {
    /// The most contents of a frame that is decoded as a whole, in bytes.
    pub(super) fn most_whole(&self) -> usize {
        if self.patch_from.is_some() { 0 } else { self.max_whole.min(MAX_WHOLE) }
    }

    /// The largest window of a frame that is streamed, in bytes, if there is no limit of memory.
    pub(super) fn window_limit(&self) -> u64 {
        self.max_window.max(self.patch_from.as_ref().map_or(0, Reference::window_limit))
    }

    /// The memory that it takes to stream a frame with a window of so many bytes, in bytes: a reference is there twice, as it was
    /// read and in the decoder.
    pub(super) fn needed(&self, window: u64) -> u64 {
        window + self.patch_from.as_ref().map_or(0, |reference| 2 * reference.len())
    }
}
