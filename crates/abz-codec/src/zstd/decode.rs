//! Whole frames into data.

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

/// What a decoder of libzstd takes, in bytes and about.
const CONTEXT: u64 = 160 << 10;

/// Decodes whole [`Frame`]s, and pieces of frames. It keeps libzstd's tables, so a worker has one and uses it again and again.
pub struct Decoder {
    /// Made with the first frame.
    context: Option<DCtx<'static>>,
    dictionary: Option<Dictionary>,
}

impl Decoder {
    /// A decoder that has the dictionary of `decoding`.
    pub fn new(decoding: &Decoding) -> Self {
        Decoder { context: None, dictionary: decoding.dictionary.clone() }
    }

    /// The contents of a frame into `data`, whose contents are dropped and whose allocation is used again, after the
    /// size and the checksum, if there is one, were verified.
    ///
    /// # Errors
    ///
    /// If the frame is damaged, or there is no memory for its contents; `data` is then empty.
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

    /// Decodes a frame once more, block by block, to find what is wrong with it and where.
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
