//! The limits of a reader, and the files that frames refer to.

use super::{DEFAULT_WINDOW_LIMIT, Dictionary, MAX_WHOLE, Reference};

/// The settings of a reader of frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoding {
    /// The dictionary with which the frames were made.
    pub dictionary: Option<Dictionary>,
    /// The file that the frames may refer to, if they are [patches](super::PatchWriter). They are streamed then.
    pub patch_from: Option<Reference>,
    /// The largest window of a streamed frame, in bytes. Frames with larger windows are refused. A frame takes no more
    /// memory than its window.
    pub max_window: u64,
    /// A limit of the memory in bytes, which replaces `max_window`.
    pub memory_limit: Option<u64>,
    /// The largest contents, in bytes, of a frame that is decoded as a whole and not streamed; at most [`MAX_WHOLE`].
    pub max_whole: usize,
}

impl Default for Decoding {
    /// Returns settings without a dictionary, with windows of [`DEFAULT_WINDOW_LIMIT`] and frames of [`MAX_WHOLE`].
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
    /// Returns the largest contents of a frame that is decoded as a whole, in bytes.
    pub(super) fn most_whole(&self) -> usize {
        if self.patch_from.is_some() { 0 } else { self.max_whole.min(MAX_WHOLE) }
    }

    /// Returns the largest window of a streamed frame in bytes, if there is no limit of memory.
    pub(super) fn window_limit(&self) -> u64 {
        self.max_window.max(self.patch_from.as_ref().map_or(0, Reference::window_limit))
    }

    /// Returns the memory that streaming a frame with a window of `window` bytes takes, in bytes. A reference is in
    /// memory twice, as it was read and in the decoder.
    pub(super) fn needed(&self, window: u64) -> u64 {
        window + self.patch_from.as_ref().map_or(0, |reference| 2 * reference.len())
    }
}
