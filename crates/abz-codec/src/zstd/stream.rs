//! Decoding of one frame after another, step by step.

use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, ResetDirective};

use super::error::{Fault, MEMORY};
use super::{Decoding, Dictionary, MAX_WINDOW_LOG};
use crate::memory::NoMemory;

/// The error codes of libzstd (`zstd_errors.h`) that are distinguished here.
const CHECKSUM_WRONG: usize = 22;

/// A streaming decoder.
pub(super) struct Stream {
    context: DCtx<'static>,
    /// Whether there may be contents that did not fit into the output yet.
    pub(super) has_more: bool,
    /// Whether the whole frame was decoded and given out.
    pub(super) has_ended: bool,
}

impl Stream {
    /// Creates a decoder with the dictionary or the reference of `decoding`.
    ///
    /// # Errors
    ///
    /// If there is no memory for the decoder or the reference.
    pub(super) fn new(decoding: &Decoding) -> Result<Self, Failure> {
        let mut context = decoder(decoding.dictionary.as_ref())?;
        if let Some(reference) = &decoding.patch_from {
            reference.load(&mut context).map_err(Failure::of)?;
        }
        // Windows are compared with their limit before this is used.
        context.set_parameter(DParameter::WindowLogMax(MAX_WINDOW_LOG)).expect("it is in its range");
        Ok(Stream { context, has_more: false, has_ended: false })
    }

    /// Prepares for the next frame.
    pub(super) fn reset(&mut self) {
        self.context.reset(ResetDirective::SessionOnly).expect("a session can be reset at any time");
        (self.has_more, self.has_ended) = (false, false);
    }

    /// Decodes some of `input` to the rest of `chunk`, of which `filled` bytes are full. Returns the number of bytes of
    /// `input` that were used.
    pub(super) fn step(
        &mut self,
        input: &[u8],
        chunk: &mut [u8],
        filled: &mut usize,
    ) -> Result<usize, Failure> {
        let mut from = InBuffer::around(input);
        let mut to = OutBuffer::around_pos(chunk, *filled);
        let hint = self.context.decompress_stream(&mut to, &mut from);
        let hint = hint.map_err(Failure::of)?;
        *filled = to.pos();
        self.has_ended = hint == 0;
        // Nothing follows the end of the frame, even if it filled the chunk. Another call would begin another frame.
        self.has_more = to.pos() == to.capacity() && !self.has_ended;
        Ok(from.pos())
    }
}

/// Creates a decoder of libzstd with a dictionary, which was checked when it was made.
///
/// # Errors
///
/// If there is no memory for the decoder.
pub(super) fn decoder(dictionary: Option<&Dictionary>) -> Result<DCtx<'static>, Failure> {
    let mut context = DCtx::try_create().ok_or(Failure::of(MEMORY.wrapping_neg()))?;
    if let Some(dictionary) = dictionary {
        dictionary.load(&mut context).map_err(Failure::of)?;
    }
    Ok(context)
}

/// The error of libzstd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    number: usize,
    detail: &'static str,
}

impl Failure {
    fn of(code: usize) -> Failure {
        Failure { number: code.wrapping_neg(), detail: zstd_safe::get_error_name(code) }
    }

    /// Returns the fault. `checksum` and `window` are those that the frame states.
    pub(super) fn fault(self, checksum: u32, window: u64) -> Fault {
        match self.number {
            CHECKSUM_WRONG => Fault::Checksum { expected: checksum },
            MEMORY => NoMemory { needed: window }.into(),
            _ => Fault::Data { detail: self.detail },
        }
    }
}
