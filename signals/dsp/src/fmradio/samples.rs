//! The samples of a receiver.

use crate::{Input, Result};

/// The value of 0, which lies between two numbers.
const ZERO: f32 = 127.5;

/// Turns pairs of bytes into the two parts of a signal.
pub(super) fn split(bytes: &[u8], in_phase: &mut [f32], quadrature: &mut [f32]) {
    let value = |byte: u8| (f32::from(byte) - ZERO) / ZERO;
    let (pairs, _) = bytes.as_chunks::<2>();
    for ((i, q), pair) in in_phase.iter_mut().zip(quadrature).zip(pairs) {
        (*i, *q) = (value(pair[0]), value(pair[1]));
    }
}

/// Reads bursts of samples, and pushes the last ones through the filters with zeros.
pub(super) struct Samples<'a> {
    input: Input<'a>,
    bytes: Vec<u8>,
    /// The number of bursts of zeros that are left. `None` if the input has not ended.
    zeros: Option<usize>,
    padding: usize,
    /// The number of samples that were read.
    read: u64,
}

impl<'a> Samples<'a> {
    /// Reads from `input`, and gives `padding` more bursts when it has ended.
    pub(super) fn new(input: Input<'a>, padding: usize) -> Self {
        Self { input, bytes: Vec::new(), zeros: None, padding, read: 0 }
    }

    /// Returns the number of samples of the input, if it has ended.
    pub(super) fn total(&self) -> Option<u64> {
        self.zeros.map(|_| self.read)
    }

    /// Fills both parts of a burst. Returns `false` without filling them if there are no more bursts.
    pub(super) fn fill(&mut self, in_phase: &mut [f32], quadrature: &mut [f32]) -> Result<bool> {
        match &mut self.zeros {
            Some(0) => return Ok(false),
            Some(left) => {
                *left -= 1;
                in_phase.fill(0.0);
                quadrature.fill(0.0);
                return Ok(true);
            }
            None => {}
        }
        self.bytes.resize(2 * in_phase.len(), 0);
        let read = self.input.fill(&mut self.bytes)?;
        if read % 2 == 1 {
            let at = self.input.offset() - 1;
            let what = "the input ends within a sample, which has two bytes: the recording was cut off; remove the \
                        last byte, or record again";
            return Err(self.input.error_at(at, what));
        }
        split(&self.bytes[..read], in_phase, quadrature);
        in_phase[read / 2..].fill(0.0);
        quadrature[read / 2..].fill(0.0);
        self.read += (read / 2) as u64;
        if read < self.bytes.len() {
            self.zeros = Some(self.padding);
        }
        Ok(true)
    }
}
