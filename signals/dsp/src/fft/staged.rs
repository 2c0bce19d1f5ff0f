//! Transforms in three stages, and block by block, for schedulers that are no network.

use std::sync::Mutex;

use crate::by_frame::ByFrame;
use crate::staged::{FirstError, Slots, Staged, locked};
use crate::{Error, Input, Output, Result};

use super::kernels::Whole;
use super::samples::{SAMPLE_BYTES, Source, Target, decoded, encoded};
use super::{Complex, Shape};

/// The stages of transforms: 0 reads, 1 transforms, and 2 writes. The blocks of stage 1 may be computed in any order.
pub struct Stages {
    shape: Shape,
    blocks: u64,
    source: Mutex<Source<'static>>,
    wholes: Vec<Mutex<Whole>>,
    target: Mutex<(Output<'static>, Vec<u8>)>,
    samples: Slots<Complex>,
    spectra: Slots<Complex>,
    error: FirstError,
}

impl std::fmt::Debug for Stages {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stages").field("shape", &self.shape).finish_non_exhaustive()
    }
}

impl Stages {
    /// Creates the stages for an input of this number of bytes.
    ///
    /// # Errors
    /// If the input does not have whole blocks.
    pub fn new(
        input: Input<'static>,
        bytes: usize,
        output: Output<'static>,
        shape: &Shape,
        slots: usize,
    ) -> Result<Self> {
        let block_bytes = shape.size * SAMPLE_BYTES;
        if !bytes.is_multiple_of(block_bytes) {
            return Err(Error::new(format!("{bytes} bytes are no whole blocks of {block_bytes} bytes")));
        }
        let whole = Whole::new(shape.size);
        Ok(Self {
            shape: *shape,
            blocks: (bytes / block_bytes).div_ceil(shape.burst) as u64,
            source: Mutex::new(Source::new(input, shape.size)),
            wholes: (0..slots).map(|_| Mutex::new(whole.clone())).collect(),
            target: Mutex::new((output, Vec::new())),
            samples: Slots::new(slots),
            spectra: Slots::new(slots),
            error: FirstError::default(),
        })
    }
}

impl Staged for Stages {
    fn blocks(&self) -> u64 {
        self.blocks
    }

    fn fire(&self, stage: usize, block: u64) {
        match stage {
            0 => {
                let mut samples = self.samples.of(block);
                samples.resize(self.shape.size * self.shape.burst, Complex::default());
                let blocks = self.error.note(locked(&self.source).fill(&mut samples)).unwrap_or(0);
                samples.truncate(blocks * self.shape.size);
            }
            1 => {
                let (samples, mut spectrum) = (self.samples.of(block), self.spectra.of(block));
                spectrum.resize(samples.len(), Complex::default());
                let whole = &self.wholes[(block % self.wholes.len() as u64) as usize];
                locked(whole).transform(&samples, &mut spectrum);
            }
            _ => {
                let (output, bytes) = &mut *locked(&self.target);
                let mut target = Target::with(output, std::mem::take(bytes));
                self.error.note(target.put(&self.spectra.of(block)));
                *bytes = target.into_bytes();
            }
        }
    }

    fn finish(&self) -> Result<()> {
        self.error.take()
    }
}

/// Transforms all blocks of `input`. `engine` computes some of them side by side. The result has the same bits as that
/// of the sequential form.
///
/// # Errors
/// The errors of [`transform`](super::transform).
pub fn transform_by(
    engine: &impl ByFrame,
    mut input: Input<'_>,
    output: &mut Output<'_>,
    shape: &Shape,
) -> Result<()> {
    let frame_bytes = shape.size * shape.burst * SAMPLE_BYTES;
    let whole = Whole::new(shape.size);
    // The buffers are used again.
    let spare = Mutex::new(Vec::<Vec<u8>>::new());
    let read =
        || -> Result<Option<Vec<u8>>> {
            let mut bytes = locked(&spare).pop().unwrap_or_default();
            bytes.resize(frame_bytes, 0);
            let read = input.fill(&mut bytes)?;
            bytes.truncate(read);
            match read % (shape.size * SAMPLE_BYTES) {
                0 => Ok((read > 0).then_some(bytes)),
                rest => Err(input
                    .error_at(input.offset() - rest as u64, "the input ends within a block: append zeros")),
            }
        };
    let state = || (whole.clone(), Vec::new(), Vec::new());
    let code = |(whole, samples, spectrum): &mut (Whole, Vec<Complex>, Vec<Complex>), mut bytes: Vec<u8>| {
        samples.resize(bytes.len() / SAMPLE_BYTES, Complex::default());
        spectrum.resize(samples.len(), Complex::default());
        decoded(&bytes, samples);
        whole.transform(samples, spectrum);
        encoded(spectrum, &mut bytes);
        bytes
    };
    let write = |bytes: Vec<u8>| {
        let put = output.put(&bytes);
        locked(&spare).push(bytes);
        put
    };
    engine.run(read, state, code, write)
}
