//! What a reader allows, and what it has.

use super::{DEFAULT_WINDOW_LIMIT, Dictionary, MAX_WHOLE};

/// How frames are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoding {
    /// What the frames may refer to: that with which they were made.
    pub dictionary: Option<Dictionary>,
    /// A frame that is streamed and has a larger window is refused, in bytes. So much memory one takes, at most.
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
            max_window: DEFAULT_WINDOW_LIMIT,
            memory_limit: None,
            max_whole: MAX_WHOLE,
        }
    }
}
