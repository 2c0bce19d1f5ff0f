//! Samples in files.

use crate::{Input, Output, Result};

use super::Complex;

/// The size of a sample in bytes.
pub(super) const SAMPLE_BYTES: usize = 8;

/// Reads whole blocks of samples.
pub(super) struct Source<'a> {
    input: Input<'a>,
    size: usize,
    bytes: Vec<u8>,
}

impl<'a> Source<'a> {
    /// A source of blocks of `size` samples.
    pub(super) fn new(input: Input<'a>, size: usize) -> Self {
        Self { input, size, bytes: Vec::new() }
    }

    /// Reads the next blocks into `samples`, whose length is a multiple of a block's. Returns how many blocks
    /// were read, which are fewer than would fit only at the end of the input. The rest of `samples` is 0.
    pub(super) fn fill(&mut self, samples: &mut [Complex]) -> Result<usize> {
        self.bytes.resize(samples.len() * SAMPLE_BYTES, 0);
        let begin = self.input.offset();
        let read = self.input.fill(&mut self.bytes)?;
        let block_bytes = self.size * SAMPLE_BYTES;
        let blocks = read / block_bytes;
        if read % block_bytes > 0 {
            let what = format!(
                "the input ends within a block: {} of {block_bytes} bytes are there; append zeros to the input, or \
                 choose another --size",
                read % block_bytes
            );
            return Err(self.input.error_at(begin + (blocks * block_bytes) as u64, what));
        }
        decoded(&self.bytes[..read], samples);
        samples[blocks * self.size..].fill(Complex::default());
        Ok(blocks)
    }
}

/// Reads samples from their bytes.
pub(super) fn decoded(bytes: &[u8], samples: &mut [Complex]) {
    let part = |bytes: &[u8]| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    for (sample, bytes) in samples.iter_mut().zip(bytes.chunks_exact(SAMPLE_BYTES)) {
        *sample = Complex::new(part(&bytes[..4]), part(&bytes[4..]));
    }
}

/// Writes samples as bytes.
pub(super) fn encoded(samples: &[Complex], bytes: &mut [u8]) {
    for (bytes, sample) in bytes.chunks_exact_mut(SAMPLE_BYTES).zip(samples) {
        bytes[..4].copy_from_slice(&sample.re.to_le_bytes());
        bytes[4..].copy_from_slice(&sample.im.to_le_bytes());
    }
}

/// Writes samples.
pub(super) struct Target<'a, 'o> {
    output: &'a mut Output<'o>,
    bytes: Vec<u8>,
}

impl<'a, 'o> Target<'a, 'o> {
    pub(super) fn new(output: &'a mut Output<'o>) -> Self {
        Self::with(output, Vec::new())
    }

    /// A target that uses this memory.
    pub(super) fn with(output: &'a mut Output<'o>, bytes: Vec<u8>) -> Self {
        Self { output, bytes }
    }

    /// The memory, to be used again.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    pub(super) fn put(&mut self, samples: &[Complex]) -> Result<()> {
        self.bytes.resize(samples.len() * SAMPLE_BYTES, 0);
        encoded(samples, &mut self.bytes);
        self.output.put(&self.bytes)
    }
}
