//! Whole frames into data.

use std::fmt;

use zstd_safe::DCtx;

use super::error::{DecodeError, Fault};
use super::scan::{Frame, Scanner};
use super::stream::decoder;
use super::{Decoding, Dictionary, MAX_WINDOW_LOG};
use crate::parts::make_exact_room;

/// Decodes whole [`Frame`]s. It keeps libzstd's tables, so a worker has one and uses it again and again.
pub struct Decoder {
    context: DCtx<'static>,
    dictionary: Option<Dictionary>,
}

impl Decoder {
    /// A decoder that has the dictionary of `decoding`.
    pub fn new(decoding: &Decoding) -> Self {
        let dictionary = decoding.dictionary.clone();
        Decoder { context: decoder(dictionary.as_ref()), dictionary }
    }

    /// The contents of a frame into `data`, whose contents are dropped and whose allocation is used again, after the
    /// size and the checksum, if there is one, were verified.
    ///
    /// # Errors
    ///
    /// If the frame is damaged, or there is no memory for its contents; `data` is then empty.
    pub fn decode_into(&mut self, frame: &Frame, data: &mut Vec<u8>) -> Result<(), DecodeError> {
        make_exact_room(data, frame.most).map_err(|needed| DecodeError {
            frame: frame.number,
            start: frame.start,
            offset: frame.start,
            fault: Fault::NoMemory { needed },
        })?;
        if self.context.decompress(data, &frame.bytes).is_ok() {
            return Ok(());
        }
        let error = self.look_closely(frame, data);
        data.clear();
        Err(error)
    }

    /// Decodes a frame once more, block by block, to find what is wrong with it and where.
    #[cold]
    fn look_closely(&self, frame: &Frame, data: &mut Vec<u8>) -> DecodeError {
        let decoding = Decoding {
            dictionary: self.dictionary.clone(),
            max_window: 1 << MAX_WINDOW_LOG,
            memory_limit: None,
            max_whole: 0,
        };
        let mut scanner = Scanner::at(&decoding, frame.number - 1, frame.start);
        let mut input = &frame.bytes[..];
        loop {
            match scanner.find(&mut input, data) {
                Err(error) => return error,
                Ok(Some(_)) => {}
                Ok(None) => {
                    let fault = Fault::Data { detail: "its size is another one" };
                    let Frame { number, start, .. } = *frame;
                    return DecodeError { frame: number, start, offset: start, fault };
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
