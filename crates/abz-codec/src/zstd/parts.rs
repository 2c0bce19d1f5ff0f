//! Frames as parts of a file.

use super::{DecodeError, Decoder, Frame, Scanner};
use crate::feed;
use crate::parts::{Scan, Scanned};

impl Scan for Scanner {
    type Whole = Frame;
    type Error = DecodeError;
    type Decoder = Decoder;

    fn next(&mut self, input: &mut &[u8], data: &mut Vec<u8>) -> Result<Option<Scanned<Frame>>, DecodeError> {
        feed::next(self, input, data)
    }

    fn finish(&mut self, data: &mut Vec<u8>) -> Result<Option<Scanned<Frame>>, DecodeError> {
        feed::finish(self, data)
    }

    fn decoders(&self) -> impl Fn() -> Decoder + Send + Sync + use<> {
        let (decoding, verified) = (self.decoding().clone(), self.gives_verified());
        move || Decoder::new(&decoding).giving_verified(verified)
    }

    fn decode_into(decoder: &mut Decoder, frame: &Frame, data: &mut Vec<u8>) -> Result<(), DecodeError> {
        decoder.decode_into(frame, data)
    }

    fn into_bytes(frame: Frame) -> Vec<u8> {
        frame.bytes
    }
}
