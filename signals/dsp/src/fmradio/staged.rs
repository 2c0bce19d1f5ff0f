//! The receiver in stages, for schedulers that are no network.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::filter::Fir;
use crate::staged::{FirstError, Slots, Staged, locked};
use crate::{Input, Output, Result};

use super::filter::Filter;
use super::line::Line;
use super::samples::Samples;
use super::stages::{Demodulator, Mixer};
use super::wav::{begin_pipe, put_pcm};
use super::{BANDS, Radio, Rates};

/// The stages of a receiver: 0 reads, 1 and 2 are the channel filters of both parts, 3 demodulates, 4 filters the
/// audio, 5 to 10 are the bands, and 11 mixes and writes.
///
/// A block is a burst. Each stage keeps the items that it needs again, so it computes the same as the loop's stages. In
/// the first blocks a stage may give nothing, because it does not see enough yet.
pub struct Stages {
    radio: Radio,
    rates: Rates,
    blocks: u64,
    samples: Mutex<Samples<'static>>,
    total: AtomicU64,
    parts: [Slots<f32>; 2],
    channels: [Mutex<Windowed>; 2],
    filtered: [Slots<f32>; 2],
    demodulator: Mutex<[Line; 2]>,
    angles: Slots<f32>,
    audio: Mutex<Windowed>,
    sound: Slots<f32>,
    bands: Vec<Mutex<Windowed>>,
    equalised: Vec<Slots<f32>>,
    end: Mutex<End>,
    error: FirstError,
}

impl std::fmt::Debug for Stages {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stages").field("radio", &self.radio).finish_non_exhaustive()
    }
}

/// A filter with the items that it needs again.
struct Windowed {
    line: Line,
    filter: Filter,
    takes: usize,
    sees: usize,
    gives: usize,
}

impl Windowed {
    fn new(radio: &Radio, fir: &Fir, takes: usize, gives: usize) -> Mutex<Self> {
        let (filter, sees) = (Filter::new(fir, radio.history), takes + fir.reach());
        Mutex::new(Self { line: Line::default(), filter, takes, sees, gives })
    }

    fn give(&mut self, to: &mut Vec<f32>) {
        to.clear();
        if self.line.has(self.sees) {
            to.resize(self.gives, 0.0);
            self.filter.apply(self.line.seen(self.sees), to);
            self.line.consume(self.takes);
        }
    }
}

/// The last stage.
struct End {
    output: Output<'static>,
    mixer: Mixer,
    equalised: Vec<f32>,
    pcm: Vec<i16>,
    bytes: Vec<u8>,
    written: u64,
}

impl Stages {
    /// Creates the stages for an input of this number of bytes. The audio is written as into a pipe.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn new(
        input: Input<'static>,
        bytes: usize,
        mut output: Output<'static>,
        radio: &Radio,
        slots: usize,
    ) -> Result<Self> {
        let filters = radio.filters();
        let rates = radio.rates(&filters);
        begin_pipe(&mut output, radio.audio_rate())?;
        let [channel_i, channel_q] =
            [(); 2].map(|()| Windowed::new(radio, &filters.channel, rates.input, rates.channel));
        Ok(Self {
            radio: radio.clone(),
            rates,
            // A burst that is not full, and may be empty, marks the end.
            blocks: (bytes / 2 / rates.input + 1 + rates.padding) as u64,
            samples: Mutex::new(Samples::new(input, rates.padding)),
            total: AtomicU64::new(u64::MAX),
            parts: [(); 2].map(|()| Slots::new(slots)),
            channels: [channel_i, channel_q],
            filtered: [(); 2].map(|()| Slots::new(slots)),
            demodulator: Mutex::default(),
            angles: Slots::new(slots),
            audio: Windowed::new(radio, &filters.audio, rates.channel, rates.audio),
            sound: Slots::new(slots),
            bands: filters
                .bands
                .iter()
                .map(|fir| Windowed::new(radio, fir, rates.audio, rates.audio))
                .collect(),
            equalised: (0..BANDS).map(|_| Slots::new(slots)).collect(),
            end: Mutex::new(End {
                output,
                mixer: Mixer::new(radio),
                equalised: Vec::new(),
                pcm: vec![0; rates.audio],
                bytes: Vec::new(),
                written: 0,
            }),
            error: FirstError::default(),
        })
    }

    fn read(&self, block: u64) {
        let [mut i, mut q] = self.parts.each_ref().map(|part| part.of(block));
        i.resize(self.rates.input, 0.0);
        q.resize(self.rates.input, 0.0);
        let mut samples = locked(&self.samples);
        self.error.note(samples.fill(&mut i, &mut q));
        if let Some(read) = samples.total() {
            self.total.store(read.div_ceil(self.rates.ratio), Relaxed);
        }
    }

    fn demodulate(&self, block: u64) {
        let (lines, mut angles) = (&mut *locked(&self.demodulator), self.angles.of(block));
        for (line, filtered) in lines.iter_mut().zip(&self.filtered) {
            line.extend(&filtered.of(block));
        }
        angles.clear();
        let (burst, sees) = (self.rates.channel, self.rates.channel + 1);
        let [i, q] = lines;
        if i.has(sees) {
            angles.resize(burst, 0.0);
            Demodulator::new(&self.radio).apply(i.seen(sees), q.seen(sees), &mut angles);
            i.consume(burst);
            q.consume(burst);
        }
    }

    fn mix(&self, block: u64) {
        let End { output, mixer, equalised, pcm, bytes, written } = &mut *locked(&self.end);
        equalised.clear();
        self.equalised.iter().for_each(|band| equalised.extend_from_slice(&band.of(block)));
        if equalised.is_empty() {
            return;
        }
        mixer.apply(equalised, pcm);
        let left = self.total.load(Relaxed).saturating_sub(*written).min(pcm.len() as u64);
        *written += left;
        self.error.note(put_pcm(output, bytes, &pcm[..left as usize]));
    }
}

impl Staged for Stages {
    fn blocks(&self) -> u64 {
        self.blocks
    }

    fn fire(&self, stage: usize, block: u64) {
        let windowed = |stage: &Mutex<Windowed>, from: &Slots<f32>, to: &Slots<f32>| {
            let mut stage = locked(stage);
            // Other stages may take over the same items at the same time.
            stage.line.extend(&from.of(block));
            stage.give(&mut to.of(block));
        };
        match stage {
            0 => self.read(block),
            1 | 2 => {
                let part = stage - 1;
                windowed(&self.channels[part], &self.parts[part], &self.filtered[part]);
            }
            3 => self.demodulate(block),
            4 => windowed(&self.audio, &self.angles, &self.sound),
            5..11 => windowed(&self.bands[stage - 5], &self.sound, &self.equalised[stage - 5]),
            _ => self.mix(block),
        }
    }

    fn finish(&self) -> Result<()> {
        self.error.take()
    }
}
