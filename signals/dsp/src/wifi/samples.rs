//! Samples in files: pairs of little-endian `f32`.

use dsp_transforms::num_complex::Complex32;

use crate::{Input, Result};

/// The size of a sample in bytes.
pub const SAMPLE_BYTES: usize = 8;

/// Reads samples.
#[derive(Debug)]
pub(super) struct Source<'a> {
    input: Input<'a>,
    bytes: Vec<u8>,
}

impl<'a> Source<'a> {
    pub(super) fn new(input: Input<'a>) -> Self {
        Self { input, bytes: Vec::new() }
    }

    /// Reads `count` samples into `samples`, or fewer at the end of the input.
    pub(super) fn read(&mut self, count: usize, samples: &mut Vec<Complex32>) -> Result<()> {
        self.bytes.resize(count * SAMPLE_BYTES, 0);
        let begin = self.input.offset();
        let read = self.input.fill(&mut self.bytes)?;
        let part = |bytes: &[u8]| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let all = self.bytes[..read].chunks_exact(SAMPLE_BYTES);
        let rest = all.remainder().len();
        samples.clear();
        samples.extend(all.map(|bytes| Complex32::new(part(&bytes[..4]), part(&bytes[4..]))));
        if let Some(at) = samples.iter().position(|sample| !(sample.re.is_finite() && sample.im.is_finite()))
        {
            let what = format!(
                "the sample {} + {}i is not finite; samples are pairs of little-endian f32 at 20 MHz",
                samples[at].re, samples[at].im
            );
            return Err(self.input.error_at(begin + (at * SAMPLE_BYTES) as u64, what));
        }
        if rest > 0 {
            let what = format!(
                "the input ends within a sample: {rest} of {SAMPLE_BYTES} bytes are there; samples are pairs of \
                 little-endian f32"
            );
            return Err(self.input.error_at(begin + (read - rest) as u64, what));
        }
        Ok(())
    }
}

/// Appends the bytes of samples.
pub(super) fn append(samples: &[Complex32], bytes: &mut Vec<u8>) {
    bytes.reserve(samples.len() * SAMPLE_BYTES);
    for sample in samples {
        bytes.extend_from_slice(&sample.re.to_le_bytes());
        bytes.extend_from_slice(&sample.im.to_le_bytes());
    }
}
