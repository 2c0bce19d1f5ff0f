//! The receiver frame by frame, for schedulers that are no network.
//!
//! The filters have no state but a window of their input, so a frame is computed from its own samples and the last ones
//! of the frame before: these are filtered twice. The de-emphasis behind the filters depends on all samples before, so
//! the mixer goes through the frames in turn.

use crate::by_frame::ByFrame;
use crate::{Input, Output, Result};

use super::stages::{Demodulator, Mixer};
use super::wav::Wav;
use super::{BANDS, Filters, Radio, samples};

/// A part of a recording: the samples of a frame, and those before it that the filters need again.
#[derive(Debug, Clone)]
pub struct Frame {
    bytes: Vec<u8>,
    /// The number of samples of audio that the frame gives.
    audio: usize,
}

impl Frame {
    /// Returns the number of bytes of the recording in the frame.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns whether the frame has no bytes.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

/// The bands of a frame, the output of the filters.
#[derive(Debug, Clone)]
pub struct Bands {
    /// One band behind the other.
    samples: Vec<f32>,
    audio: usize,
}

impl Bands {
    /// Returns the size of the samples of all bands in bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(self.samples.as_slice())
    }
}

/// The numbers of samples at each stage for a number of samples of audio.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    band_reach: usize,
    audio_step: usize,
    audio_reach: usize,
    channel_step: usize,
    channel_reach: usize,
}

impl Sizes {
    fn of(radio: &Radio, filters: &Filters) -> Self {
        Self {
            band_reach: filters.bands[0].reach(),
            audio_step: radio.audio_step() as usize,
            audio_reach: filters.audio.reach(),
            channel_step: radio.channel_step() as usize,
            channel_reach: filters.channel.reach(),
        }
    }

    fn angles(&self, audio: usize) -> usize {
        (audio + self.band_reach) * self.audio_step + self.audio_reach
    }

    fn station(&self, audio: usize) -> usize {
        self.angles(audio) + 1
    }

    fn input(&self, audio: usize) -> usize {
        self.station(audio) * self.channel_step + self.channel_reach
    }

    /// Returns the number of samples of the input for a sample of audio.
    fn ratio(&self) -> usize {
        self.channel_step * self.audio_step
    }
}

/// Cuts a recording into frames, which [`Receiver`]s can receive side by side.
#[derive(Debug)]
pub struct Frames<'a> {
    input: Input<'a>,
    sizes: Sizes,
    /// The number of samples of audio of a frame.
    frame: usize,
    /// The number of samples from the end of a frame's audio to the end of the frame.
    late: usize,
    /// The samples from which on the next frame's audio begins.
    held: Vec<u8>,
    /// The number of samples of audio in the frames so far.
    given: usize,
    /// The number of samples that were read; of all samples, if the input is over.
    read: usize,
    is_over: bool,
}

impl<'a> Frames<'a> {
    /// Creates the frames of a recording. Each has `frame` samples of audio, at least 1, and the last one the rest.
    pub fn new(input: Input<'a>, radio: &Radio, frame: usize) -> Self {
        let sizes = Sizes::of(radio, &radio.filters());
        let late = sizes.input(0).div_ceil(sizes.ratio());
        let (held, given, read) = (Vec::new(), 0, 0);
        Self { input, sizes, frame: frame.max(1), late, held, given, read, is_over: false }
    }

    fn cut(&mut self) -> Result<Option<Frame>> {
        let ratio = self.sizes.ratio();
        let wanted = 2 * self.frame * ratio;
        while !self.is_over {
            let before = self.held.len();
            self.held.resize(before + wanted, 0);
            let more = self.input.fill(&mut self.held[before..])?;
            if more % 2 == 1 {
                return Err(self.input.error_at(self.input.offset() - 1, "the input ends within a sample"));
            }
            self.held.truncate(before + more);
            self.read += more / 2;
            self.is_over = more < wanted;
            let audio = (self.held.len() / 2 / ratio).saturating_sub(self.late);
            if self.is_over || audio == 0 {
                continue;
            }
            let bytes = self.held[..2 * self.sizes.input(audio)].to_vec();
            self.held.drain(..2 * audio * ratio);
            self.given += audio;
            return Ok(Some(Frame { bytes, audio }));
        }
        let audio = (self.read.div_ceil(ratio) - self.given).min(self.frame);
        if audio == 0 {
            return Ok(None);
        }
        let mut bytes = std::mem::take(&mut self.held);
        self.held = bytes.get(2 * audio * ratio..).unwrap_or_default().to_vec();
        bytes.truncate(2 * self.sizes.input(audio));
        self.given += audio;
        Ok(Some(Frame { bytes, audio }))
    }
}

impl Iterator for Frames<'_> {
    type Item = Result<Frame>;

    fn next(&mut self) -> Option<Result<Frame>> {
        self.cut().transpose()
    }
}

/// Filters and demodulates frames.
#[derive(Debug, Clone)]
pub struct Receiver {
    filters: Filters,
    demodulator: Demodulator,
    sizes: Sizes,
}

impl Receiver {
    /// Creates a receiver of the frames that [`Frames`] cuts for the same radio.
    pub fn new(radio: &Radio) -> Self {
        let filters = radio.filters();
        Self { demodulator: Demodulator::new(radio), sizes: Sizes::of(radio, &filters), filters }
    }

    /// Receives a frame. The frames may come in any order.
    pub fn receive(&self, Frame { bytes, audio }: &Frame) -> Bands {
        let Self { filters, demodulator, sizes } = self;
        let [mut i, mut q] = [(); 2].map(|()| vec![0.0; sizes.input(*audio)]);
        samples::split(bytes, &mut i, &mut q);
        let [i, q] = [i, q].map(|part| {
            let mut station = vec![0.0; sizes.station(*audio)];
            filters.channel.apply(&part, &mut station);
            station
        });
        let mut angles = vec![0.0; sizes.angles(*audio)];
        demodulator.apply(&i, &q, &mut angles);
        let mut sound = vec![0.0; audio + sizes.band_reach];
        filters.audio.apply(&angles, &mut sound);
        let mut samples = vec![0.0; BANDS * audio];
        for (fir, to) in filters.bands.iter().zip(samples.chunks_exact_mut(*audio)) {
            fir.apply(&sound, to);
        }
        Bands { samples, audio: *audio }
    }
}

/// Mixes the bands of the frames to audio, one frame after the other.
#[derive(Debug, Clone)]
pub struct Audio {
    mixer: Mixer,
    pcm: Vec<i16>,
}

impl Audio {
    /// Creates the mixer of a radio, at its beginning.
    pub fn new(radio: &Radio) -> Self {
        Self { mixer: Mixer::new(radio), pcm: Vec::new() }
    }

    /// Returns the samples of the next frame.
    pub fn mix(&mut self, bands: &Bands) -> &[i16] {
        self.pcm.resize(bands.audio, 0);
        self.mixer.apply(&bands.samples, &mut self.pcm);
        &self.pcm
    }
}

/// Receives a station. `engine` computes frames of `frame` samples of audio side by side. The result has the same bytes
/// as that of the sequential form.
///
/// # Errors
/// The errors of [`receive`](super::receive).
pub fn receive_by(
    engine: &impl ByFrame,
    input: Input<'_>,
    output: &mut Output<'_>,
    radio: &Radio,
    frame: usize,
) -> Result<()> {
    let mut frames = Frames::new(input, radio, frame);
    let (receiver, mut audio) = (Receiver::new(radio), Audio::new(radio));
    let mut wav = Wav::new(output, radio.audio_rate())?;
    let code = |(): &mut (), frame: Frame| receiver.receive(&frame);
    engine.run(|| frames.cut(), || (), code, |bands: Bands| wav.put(audio.mix(&bands), None))?;
    wav.finish()
}
