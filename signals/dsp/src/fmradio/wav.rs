//! WAV files with 16-bit PCM samples and one channel.

use hound::{SampleFormat, WavSpec, WavWriter};

use crate::{Error, Output, Result};

/// The most samples of a file. Its sizes are numbers of 32 bits that count bytes.
const MOST_SAMPLES: u64 = (u32::MAX as u64 - 64) / 2;

/// Writes samples.
pub(super) struct Wav<'a, 'o> {
    to: To<'a, 'o>,
    name: String,
    written: u64,
}

enum To<'a, 'o> {
    /// A file, whose header is written again at the end.
    File(WavWriter<&'a mut Output<'o>>),
    /// A pipe. Its header states an unknown length.
    Pipe(&'a mut Output<'o>, Vec<u8>),
}

impl<'a, 'o> Wav<'a, 'o> {
    /// Begins a file with `rate` samples per second.
    pub(super) fn new(output: &'a mut Output<'o>, rate: u32) -> Result<Self> {
        let name = output.name().to_owned();
        let to = if output.can_seek() {
            To::File(WavWriter::new(output, spec(rate)).map_err(|error| failed(&name, error))?)
        } else {
            begin_pipe(output, rate)?;
            To::Pipe(output, Vec::new())
        };
        Ok(Self { to, name, written: 0 })
    }

    /// Writes samples, but no more than `total` in the whole file, if this is known.
    pub(super) fn put(&mut self, samples: &[i16], total: Option<u64>) -> Result<()> {
        let left = total.map_or(u64::MAX, |total| total.saturating_sub(self.written));
        let samples = &samples[..left.min(samples.len() as u64) as usize];
        self.written += samples.len() as u64;
        match &mut self.to {
            To::File(_) if self.written > MOST_SAMPLES => Err(Error::at(
                &self.name,
                2 * MOST_SAMPLES,
                "a WAV file holds no more than 4 GiB: write to a pipe with - as the output, or receive parts of the input",
            )),
            To::File(file) => {
                let mut writer = file.get_i16_writer(samples.len() as u32);
                samples.iter().for_each(|&sample| writer.write_sample(sample));
                writer.flush().map_err(|error| failed(&self.name, error))
            }
            To::Pipe(output, bytes) => put_pcm(output, bytes, samples),
        }
    }

    /// Writes the sizes into the header of a file.
    pub(super) fn finish(self) -> Result<()> {
        match self.to {
            To::File(file) => file.finalize().map_err(|error| failed(&self.name, error)),
            To::Pipe(..) => Ok(()),
        }
    }
}

fn spec(rate: u32) -> WavSpec {
    WavSpec { channels: 1, sample_rate: rate, bits_per_sample: 16, sample_format: SampleFormat::Int }
}

/// Writes the header of a file whose length is not known.
pub(super) fn begin_pipe(output: &mut Output<'_>, rate: u32) -> Result<()> {
    output.put(&spec(rate).into_header_for_infinite_file())
}

/// Writes samples. `bytes` is memory for them.
pub(super) fn put_pcm(output: &mut Output<'_>, bytes: &mut Vec<u8>, samples: &[i16]) -> Result<()> {
    bytes.clear();
    bytes.extend(samples.iter().flat_map(|sample| sample.to_le_bytes()));
    output.put(bytes)
}

fn failed(name: &str, error: hound::Error) -> Error {
    match error {
        hound::Error::IoError(error) => Error::io(name, "cannot write", error),
        error => Error::new(format!("{name}: {error}")),
    }
}
