//! Decoding of one deflate stream step by step.
//!
//! libdeflate decodes only whole streams, so it is used where the end is known ([`Decoder`](super::Decoder)).

use super::error::Fault;
use crate::inflate::{Inflate, Pause};

pub(crate) struct Inflater {
    inflate: Inflate<u8>,
}

/// The result of a step.
pub(crate) struct Step {
    /// The number of bytes of the input that were used.
    pub(crate) consumed: usize,
    /// The number of bytes of the output that were written.
    pub(crate) produced: usize,
    /// Whether the stream has ended, right behind the bytes that were used.
    pub(crate) ended: bool,
    /// Set if the decoder has stopped before a block, because of [`Inflater::stop_behind`].
    pub(crate) stopped: bool,
}

impl Inflater {
    pub(crate) fn new() -> Self {
        Inflater { inflate: Inflate::new() }
    }

    /// Begins another stream.
    pub(crate) fn reset(&mut self) {
        self.inflate.reset();
    }

    /// Decodes as much of `input` as fits into `output`. It stops early only if it needs more of either, at the end of
    /// the stream, or where it was told to. After an error, [`Inflater::consumed`] returns how much was used, and
    /// [`Inflater::produced`] how much was written.
    pub(crate) fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, Fault> {
        let step = self.inflate.step(input, output).map_err(|_| Fault::Deflate)?;
        let (ended, stopped) = (step.pause == Pause::Ended, step.pause == Pause::Block);
        Ok(Step { consumed: step.consumed, produced: step.produced, ended, stopped })
    }

    /// Makes it stop once, before the first block that begins at least `bits` bits behind the data used so far.
    pub(crate) fn stop_behind(&mut self, bits: u64) {
        self.inflate.stop_at(self.inflate.bit().saturating_add(bits));
    }

    /// Returns the number of bits in the used bytes that are not decoded yet.
    pub(crate) fn bits_held(&self) -> u64 {
        self.inflate.bits_held()
    }

    /// Returns the last contents, to which later data may refer.
    pub(crate) fn window(&self) -> &[u8] {
        self.inflate.window()
    }

    /// Continues with the state of another decoder.
    pub(crate) fn replace(&mut self, inflate: Inflate<u8>) {
        self.inflate = inflate;
    }

    /// See [`Inflate::is_hopeless`].
    pub(crate) fn is_hopeless(&self) -> bool {
        self.inflate.is_hopeless()
    }

    /// See [`Inflate::produced`].
    pub(crate) fn produced(&self) -> usize {
        self.inflate.produced()
    }

    /// Returns the number of bytes of this stream that have been used.
    pub(crate) fn consumed(&self) -> u64 {
        self.inflate.consumed()
    }
}
