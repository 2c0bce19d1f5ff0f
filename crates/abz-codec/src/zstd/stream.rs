//! One frame after another, decoded step by step.

use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, ResetDirective};

use super::error::Fault;
use super::{Decoding, Dictionary, MAX_WINDOW_LOG};
use crate::memory::NoMemory;

/// The numbers of the faults of libzstd (`zstd_errors.h`) that have a name here.
const CHECKSUM_WRONG: usize = 22;
pub(super) const MEMORY: usize = 64;

/// A decoder that is fed bytes and gives bytes.
pub(super) struct Stream {
    context: DCtx<'static>,
    /// There may be contents that had no room yet.
    pub(super) has_more: bool,
    /// All of the frame was decoded and given out.
    pub(super) has_ended: bool,
}

impl Stream {
    /// A decoder that has the dictionary or the reference of `decoding`.
    ///
    /// # Errors
    ///
    /// If there is no memory for it, or for a reference.
    pub(super) fn new(decoding: &Decoding) -> Result<Self, Failure> {
        let mut context = decoder(decoding.dictionary.as_ref())?;
        if let Some(reference) = &decoding.patch_from {
            reference.load(&mut context).map_err(Failure::of)?;
        }
        // Windows are held against their limit before this is used.
        context.set_parameter(DParameter::WindowLogMax(MAX_WINDOW_LOG)).expect("it is in its range");
        Ok(Stream { context, has_more: false, has_ended: false })
    }

    /// Makes it ready for the next frame.
    pub(super) fn reset(&mut self) {
        self.context.reset(ResetDirective::SessionOnly).expect("a session can be reset at any time");
        (self.has_more, self.has_ended) = (false, false);
    }

    /// Decodes some of `input` to the rest of `chunk`, of which `filled` bytes are full: how much it took.
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
        // Behind the end of the frame there is nothing more, also where it filled the chunk: to ask for it begins another.
        self.has_more = to.pos() == to.capacity() && !self.has_ended;
        Ok(from.pos())
    }
}

/// A decoder of libzstd that knows a dictionary, which was tried when it was made.
///
/// # Errors
///
/// If there is no memory for it.
pub(super) fn decoder(dictionary: Option<&Dictionary>) -> Result<DCtx<'static>, Failure> {
    let mut context = DCtx::try_create().ok_or(Failure::of(MEMORY.wrapping_neg()))?;
    if let Some(dictionary) = dictionary {
        dictionary.load(&mut context).map_err(Failure::of)?;
    }
    Ok(context)
}

/// Why libzstd could not decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    number: usize,
    detail: &'static str,
}

impl Failure {
    fn of(code: usize) -> Failure {
        Failure { number: code.wrapping_neg(), detail: zstd_safe::get_error_name(code) }
    }

    /// The fault, of which the checksum and the size of the window that the frame says may be a part.
    pub(super) fn fault(self, checksum: u32, window: u64) -> Fault {
        match self.number {
            CHECKSUM_WRONG => Fault::Checksum { expected: checksum },
            MEMORY => NoMemory { needed: window }.into(),
            _ => Fault::Data { detail: self.detail },
        }
    }
}
