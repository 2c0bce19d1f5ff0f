//! A receiver of FM radio: from the samples of a receiver to audio.
//!
//! The input is what receivers write: pairs of unsigned 8-bit numbers, the in-phase and the quadrature part of
//! a sample, with the station at 0 Hz. The output is a WAV file with 16-bit PCM samples and one channel.
//!
//! | stage | what it does |
//! |---|---|
//! | read | turns pairs of bytes into two signals |
//! | channel | low-pass filters to the width of a station, one for each signal; decimation |
//! | demodulate | the angle from each sample to the next |
//! | audio | a low-pass filter to 15 kHz; decimation |
//! | band | six band-pass filters: the equaliser |
//! | mix | the sum of the bands, and de-emphasis |
//! | write | the WAV file |
//!
//! A filter sees a window of its input and computes output *n* from the items behind *n*, so the audio begins
//! when the filters have seen enough. The network gives the same bytes as the sequential form.

mod by_frame;
pub mod command;
mod filter;
mod line;
mod network;
mod samples;
mod sequential;
mod staged;
mod stages;
mod tone;
mod wav;

use crate::filter::{Fir, low_pass, low_pass_of};
use crate::{Error, Input, Output, Result, Run};

pub use by_frame::{Audio, Bands, Frame, Frames, Receiver, receive_by};
pub use staged::Stages;
pub use tone::{Tone, test_tone};

/// The number of bands of the equaliser.
pub const BANDS: usize = 6;
/// The frequencies between the bands of the equaliser, and the end of the last band, in Hz.
pub const BAND_ENDS: [f64; BANDS] = [200.0, 600.0, 1_500.0, 4_000.0, 8_000.0, AUDIO_HERTZ];

/// The lowest rate of the input in samples per second: a station is 150 kHz wide.
pub const LEAST_RATE: u32 = 150_000;
/// The highest rate of the input in samples per second.
pub const MOST_RATE: u32 = 20_000_000;

/// The end of the audio band in Hz.
const AUDIO_HERTZ: f64 = 15_000.0;
/// Half the width of a station in Hz.
const CHANNEL_HERTZ: f64 = 75_000.0;
/// The largest deviation of the frequency in Hz, which becomes the amplitude 1.
const DEVIATION_HERTZ: f64 = 75_000.0;
/// The approximate rate behind the channel filter in samples per second; the actual rate is less than twice as high.
const CHANNEL_RATE: u32 = 240_000;
/// The approximate rate of the audio in samples per second.
const AUDIO_RATE: f64 = 48_000.0;
/// The number of taps of a band's filter.
const BAND_TAPS: usize = 256;

/// How a filter keeps the items that it needs again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum History {
    /// They stay in the record, and the filter sees a window of them
    Records,
    /// The filter copies each item into a ring buffer
    Rings,
}

/// A receiver.
///
/// ```
/// let radio = dsp::fmradio::Radio::new(250_000)?;
/// assert_eq!(radio.audio_rate(), 50_000);
/// # Ok::<(), dsp::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Radio {
    rate: u32,
    burst: usize,
    gains: [f32; BANDS],
    de_emphasis: f64,
    is_doubled: bool,
    history: History,
}

impl Radio {
    /// Creates a receiver for an input with `rate` samples per second.
    ///
    /// # Errors
    /// If the rate is less than [`LEAST_RATE`] or more than [`MOST_RATE`].
    pub fn new(rate: u32) -> Result<Self> {
        if !(LEAST_RATE..=MOST_RATE).contains(&rate) {
            return Err(Error::new(format!(
                "the input cannot have {rate} samples per second: --rate must be from {LEAST_RATE} to {MOST_RATE}"
            )));
        }
        Ok(Self {
            rate,
            burst: 256,
            gains: [1.0; BANDS],
            de_emphasis: 50e-6,
            is_doubled: false,
            history: History::Records,
        })
    }

    /// Sets how many samples of audio one firing of each stage makes, at least 1. The default is 256.
    pub fn burst(mut self, samples: usize) -> Self {
        self.burst = samples.max(1);
        self
    }

    /// Sets the factors by which the equaliser multiplies its bands.
    pub fn gains(mut self, gains: [f32; BANDS]) -> Self {
        self.gains = gains;
        self
    }

    /// Sets the time constant of the de-emphasis in seconds: 50e-6 in most countries, 75e-6 in America, 0 for
    /// none.
    pub fn de_emphasis(mut self, seconds: f64) -> Self {
        self.de_emphasis = seconds;
        self
    }

    /// Lets two processes take turns with the audio filter, which has the most taps at the highest rate.
    pub fn doubled(mut self, is_doubled: bool) -> Self {
        self.is_doubled = is_doubled;
        self
    }

    /// Sets where the filters keep the items that they need again. With ring buffers, the audio filter is not
    /// doubled, because each item of a ring buffer depends on the ones before.
    pub fn history(mut self, history: History) -> Self {
        self.history = history;
        self
    }

    /// Returns the rate of the audio in samples per second, rounded.
    pub fn audio_rate(&self) -> u32 {
        let ratio = u64::from(self.channel_step()) * u64::from(self.audio_step());
        ((u64::from(self.rate) + ratio / 2) / ratio) as u32
    }

    /// Returns the number of samples of the input for one behind the channel filter.
    fn channel_step(&self) -> u32 {
        (self.rate / CHANNEL_RATE).max(1)
    }

    fn channel_rate(&self) -> f64 {
        f64::from(self.rate) / f64::from(self.channel_step())
    }

    /// Returns the number of samples behind the channel filter for one of the audio.
    fn audio_step(&self) -> u32 {
        (self.channel_rate() / AUDIO_RATE).round().max(1.0) as u32
    }

    /// Returns the filters of this receiver.
    fn filters(&self) -> Filters {
        let rate = f64::from(self.rate);
        let channel_rate = self.channel_rate();
        // The band between a station's end and the mirror image of that end.
        let (end, stop) = (CHANNEL_HERTZ, (channel_rate - CHANNEL_HERTZ).min(CHANNEL_HERTZ + 50_000.0));
        let (end, stop) = (end / rate, stop.max(CHANNEL_HERTZ + 10_000.0) / rate);
        let channel = Fir::new(low_pass((end + stop) / 2.0, stop - end), self.channel_step() as usize);
        // The pilot tone at 19 kHz is no audio.
        let (end, stop) = (AUDIO_HERTZ / channel_rate, 19_000.0 / channel_rate);
        let audio = Fir::new(low_pass((end + stop) / 2.0, stop - end), self.audio_step() as usize);
        let audio_rate = channel_rate / f64::from(self.audio_step());
        let below = |hertz: f64| low_pass_of(hertz / audio_rate, BAND_TAPS);
        let band = |at: usize| {
            let mut taps = below(BAND_ENDS[at].min(0.49 * audio_rate));
            if at > 0 {
                taps.iter_mut().zip(below(BAND_ENDS[at - 1])).for_each(|(tap, below)| *tap -= below);
            }
            taps.iter_mut().for_each(|tap| *tap *= f64::from(self.gains[at]));
            Fir::new(taps, 1)
        };
        Filters { channel, audio, bands: std::array::from_fn(band) }
    }
}

/// The filters of a receiver.
#[derive(Debug, Clone)]
struct Filters {
    channel: Fir,
    audio: Fir,
    bands: [Fir; BANDS],
}

/// The numbers of items that pass through the stages at a time.
#[derive(Debug, Clone, Copy)]
struct Rates {
    /// Samples of the input.
    input: usize,
    /// Samples behind the channel filter.
    channel: usize,
    /// Samples of the audio.
    audio: usize,
    /// The number of samples of the input for one of the audio.
    ratio: u64,
    /// The number of bursts of zeros that push the last sample through the filters.
    padding: usize,
}

impl Radio {
    fn rates(&self, filters: &Filters) -> Rates {
        let (channel_step, audio_step) = (self.channel_step() as usize, self.audio_step() as usize);
        let (audio, channel) = (self.burst, self.burst * audio_step);
        let input = channel * channel_step;
        // A stage can make a burst when it sees the items beyond that burst, for which it waits for whole bursts.
        let waits = |reach: usize, burst: usize| reach.div_ceil(burst);
        let padding = waits(filters.channel.reach(), input)
            + waits(1, channel)
            + waits(filters.audio.reach(), channel)
            + waits(filters.bands[0].reach(), audio)
            // With two audio filters, the stages behind them get their items in pairs of bursts.
            + 2;
        Rates { input, channel, audio, ratio: (channel_step * audio_step) as u64, padding }
    }
}

/// Receives a station: reads samples from `input`, and writes a WAV file to `output`.
///
/// # Errors
/// If the input ends within a sample, if a file cannot be read or written, or if there is more audio than a
/// WAV file holds.
pub fn receive(input: Input<'_>, output: &mut Output<'_>, radio: &Radio, run: &Run) -> Result<()> {
    if run.is_inline() {
        sequential::receive(input, output, radio, run)
    } else {
        network::receive(input, output, radio, run)
    }
}
