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
    /// Whether the contents of a damaged frame are withheld.
    gives_verified: bool,
}

impl Decoder {
    /// Creates a decoder with the dictionary of `decoding`.
    pub fn new(decoding: &Decoding) -> Self {
        Decoder { context: None, dictionary: decoding.dictionary.clone(), gives_verified: false }
    }

    /// Sets whether the contents of a damaged frame are withheld; they are not by default.
    #[must_use]
    pub fn giving_verified(mut self, verified: bool) -> Self {
        self.gives_verified = verified;
        self
    }

    /// Decodes a frame, and verifies its size and, if it has one, its checksum. Replaces the contents of `data` and
    /// uses its allocation.
    ///
    /// # Errors
    ///
    /// If the frame is damaged, or there is no memory for its contents. `data` has the contents before the damage then.
    /// If the frame is a piece of another one, which has a checksum of its own, `data` is empty.
    pub fn decode_into(&mut self, frame: &Frame, data: &mut Vec<u8>) -> Result<(), DecodeError> {
        let error = |offset, fault| DecodeError::new(frame.place(), offset, fault);
        make_exact_room(data, frame.most).map_err(|fault| error(frame.at, fault.into()))?;
        let context = match &mut self.context {
            Some(context) => context,
            none => {
                let made = decoder(self.dictionary.as_ref());
                none.insert(made.map_err(|failure| error(frame.at, failure.fault(0, CONTEXT)))?)
            }
        };
        let decoded = context.decompress(data, frame.bytes());
        let error = match (decoded, frame.piece) {
            (Ok(_), Some(expected)) if crc32(data) != expected => error(frame.at, Fault::Piece { expected }),
            (Ok(_), _) => return Ok(()),
            (Err(_), _) => self.look_closely(frame, data),
        };
        if frame.piece.is_some() || self.gives_verified {
            data.clear();
        }
        Err(error)
    }

    /// Decodes a frame again, block by block, to find the fault and its place. The contents before it are in `data`
    /// afterwards.
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
        let mut chunk = Vec::new();
        data.clear();
        loop {
            match feed::next(&mut scanner, &mut input, &mut chunk) {
                // A piece is not a frame by itself.
                Err(error) => return DecodeError { place: frame.place(), ..error },
                // There is room for the contents that the frame states. More than those are not its contents.
                Ok(Some(_)) => {
                    data.extend_from_slice(&chunk[..chunk.len().min(data.capacity() - data.len())])
                }
                Ok(None) => {
                    let fault = match frame.piece {
                        Some(expected) => Fault::Piece { expected },
                        None => Fault::Data { detail: OTHER_SIZE },
                    };
                    return DecodeError::new(frame.place(), frame.at, fault);
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
