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
    /// It has stopped before a block, as it was told to.
    pub(crate) stopped: bool,
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
    /// the end of the stream. After an error, [`Inflater::consumed`] says how far it came, and [`Inflater::produced`] how much
    /// it has written.
    pub(crate) fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, Fault> {
        let step = self.inflate.step(input, output).map_err(|_| Fault::Deflate)?;
        let (ended, stopped) = (step.pause == Pause::Ended, step.pause == Pause::Block);
        Ok(Step { consumed: step.consumed, produced: step.produced, ended, stopped })
    }

    /// Stops once before a block, from so many bits on behind what has been used.
    pub(crate) fn stop_behind(&mut self, bits: u64) {
        self.inflate.stop_at(self.inflate.bit().saturating_add(bits));
    }

    /// How many bits of the bytes that have been used are those of what comes next.
    pub(crate) fn bits_held(&self) -> u64 {
        self.inflate.bits_held()
    }

    /// The last contents that later ones may refer to.
    pub(crate) fn window(&self) -> &[u8] {
        self.inflate.window()
    }

    /// Goes on as another decoder.
    pub(crate) fn replace(&mut self, inflate: Inflate<u8>) {
        self.inflate = inflate;
    }

    /// As [`Inflate::is_hopeless`].
    pub(crate) fn is_hopeless(&self) -> bool {
        self.inflate.is_hopeless()
    }

    /// As [`Inflate::produced`].
    pub(crate) fn produced(&self) -> usize {
        self.inflate.produced()
    }

    /// How many bytes of this stream have been used.
    pub(crate) fn consumed(&self) -> u64 {
        self.inflate.consumed()
    }
}
