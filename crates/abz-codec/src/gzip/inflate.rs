//! One deflate stream decoded step by step.
//!
//! libdeflate, which takes a stream only as a whole, is used where its end is known ([`Decoder`](super::Decoder)).

use super::error::Fault;
use crate::inflate::{Inflate, Pause};

pub(crate) struct Inflater {
    inflate: Inflate<u8>,
}

/// What one step did.
pub(crate) struct Step {
    /// Bytes of the input that were used.
    pub(crate) consumed: usize,
    /// Bytes of the output that were written.
    pub(crate) produced: usize,
    /// The stream has ended, right after the bytes that were consumed.
    pub(crate) ended: bool,
}

impl Inflater {
    pub(crate) fn new() -> Self {
        Inflater { inflate: Inflate::new() }
    }

    /// Begins with another stream.
    pub(crate) fn reset(&mut self) {
        self.inflate.reset();
    }

    /// Decodes as much of `input` as fits into `output`. It stops early only for want of more of either, or at
    /// the end of the stream. After an error, [`Inflater::consumed`] says how far it came.
    pub(crate) fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, Fault> {
        let step = self.inflate.step(input, output).map_err(|_| Fault::Deflate)?;
        let ended = step.pause == Pause::Ended;
        Ok(Step { consumed: step.consumed, produced: step.produced, ended })
    }

    /// How many bytes of this stream have been used.
    pub(crate) fn consumed(&self) -> u64 {
        self.inflate.consumed()
    }
}
