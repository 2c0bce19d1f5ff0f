//! Decoding of whole frames.

use std::fmt;

use crc32fast::hash as crc32;
use zstd_safe::DCtx;

use super::error::{DecodeError, Fault};
use super::frame::Frame;
use super::scan::{OTHER_SIZE, Scanner};
use super::stream::decoder;
use super::{Decoding, Dictionary, MAX_WINDOW_LOG};
use crate::feed;
use crate::memory::make_exact_room;

/// The approximate memory that a decoder of libzstd takes, in bytes.
const CONTEXT: u64 = 160 << 10;

/// A decoder of whole [`Frame`]s and pieces of frames. It keeps libzstd's tables, so use one per worker for many
/// frames.
pub struct Decoder {
    /// Made for the first frame.
    context: Option<DCtx<'static>>,
    dictionary: Option<Dictionary>,
}

impl Decoder {
    /// Creates a decoder with the dictionary of `decoding`.
    pub fn new(decoding: &Decoding) -> Self {
        Decoder { context: None, dictionary: decoding.dictionary.clone() }
    }

    /// Decodes a frame, and verifies its size and, if it has one, its checksum. Replaces the contents of `data` and
    /// uses its allocation.
    ///
    /// # Errors
    ///
    /// If the frame is damaged, or there is no memory for its contents. `data` is empty then.
    pub fn decode_into(&mut self, frame: &Frame, data: &mut Vec<u8>) -> Result<(), DecodeError> {
        let error = |offset, fault| DecodeError { place: frame.place(), offset, fault };
        make_exact_room(data, frame.most).map_err(|fault| error(frame.at, fault.into()))?;
        let context = match &mut self.context {
            Some(context) => context,
            none => {
                let made = decoder(self.dictionary.as_ref());
                none.insert(made.map_err(|failure| error(frame.at, failure.fault(0, CONTEXT)))?)
            }
        };
        let decoded = context.decompress(data, frame.bytes());
        let result = match (decoded, frame.piece) {
            (Ok(_), Some(expected)) if crc32(data) != expected => {
                Err(error(frame.at, Fault::Piece { expected }))
            }
            (Ok(_), _) => Ok(()),
            (Err(_), _) => Err(self.look_closely(frame, data)),
        };
        if result.is_err() {
            data.clear();
        }
        result
    }

    /// Decodes a frame again, block by block, to find the fault and its place.
    #[cold]
    fn look_closely(&self, frame: &Frame, data: &mut Vec<u8>) -> DecodeError {
        let decoding = Decoding {
            dictionary: self.dictionary.clone(),
            patch_from: None,
            max_window: 1 << MAX_WINDOW_LOG,
            memory_limit: None,
            max_whole: 0,
        };
        let mut scanner = Scanner::at(&decoding, frame.number - 1, frame.at);
        let mut input = frame.bytes();
        loop {
            match feed::next(&mut scanner, &mut input, data) {
                // A piece is not a frame by itself.
                Err(error) => return DecodeError { place: frame.place(), ..error },
                Ok(Some(_)) => {}
                Ok(None) => {
                    let fault = match frame.piece {
                        Some(expected) => Fault::Piece { expected },
                        None => Fault::Data { detail: OTHER_SIZE },
                    };
                    return DecodeError { place: frame.place(), offset: frame.at, fault };
                }
            }
        }
    }
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder").finish_non_exhaustive()
    }
}
