//! Cutting of a signal into frames. This part of a receiver has to go through all samples in order.

use std::fmt;
use std::sync::Arc;

use dsp_transforms::num_complex::Complex32;

use super::demodulate::{Demodulator, Estimate};
use super::rate::Rate;
use super::search::{Candidate, EARLY, LOOK_BACK, LongTraining, Search};
use super::signal::{self, Signal, SignalError};
use super::symbols::{GUARD, SYMBOL, USEFUL};
use super::viterbi::{State, Viterbi};

/// The number of symbols of a group, the unit that the parts of a receiver pass on.
pub const GROUP: usize = 16;

/// Samples from the beginning of a preamble to its first long training symbol.
const TO_LONG: u64 = 192;
/// Samples from the first long training symbol to the SIGNAL field.
const TO_SIGNAL: u64 = 2 * USEFUL as u64;

/// A frame whose SIGNAL field was read.
#[derive(Debug)]
pub struct Frame {
    /// The number of the frame in the input, from 0. Bad frames count.
    pub index: u64,
    /// The index of its first sample in the input.
    pub first: u64,
    /// Its rate and length.
    pub signal: Signal,
    /// The estimate of the channel from its preamble.
    pub estimate: Estimate,
}

/// The samples of consecutive symbols of a frame.
#[derive(Debug)]
pub struct Group {
    /// The frame.
    pub frame: Arc<Frame>,
    /// The number of the first symbol. The SIGNAL field has number 0.
    pub number: usize,
    /// 64 samples of each symbol.
    pub samples: Vec<Complex32>,
}

/// A frame that cannot be received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadFrame {
    /// The number of the frame in the input, from 0. Bad frames count.
    pub index: u64,
    /// The index of its first sample in the input. A sample has 8 bytes.
    pub first: u64,
    /// The fault of the frame.
    pub fault: Fault,
}

/// The fault of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Its SIGNAL field is wrong.
    Signal(SignalError),
    /// The input ends within it.
    Cut,
    /// It is too short for a check sequence.
    Short,
    /// The scrambler's state is 0.
    Scrambler,
    /// The check sequence is wrong.
    Check,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signal(error) => error.fmt(f),
            Self::Cut => f.write_str("the input ends within it"),
            Self::Short => f.write_str("it is too short for a check sequence"),
            Self::Scrambler => f.write_str("it was scrambled with the state 0, which does not scramble"),
            Self::Check => f.write_str("its check sequence is wrong"),
        }
    }
}

/// A finding of a receiver in its input.
#[derive(Debug)]
pub enum Piece<T> {
    /// A stretch of samples without a frame.
    Quiet,
    /// A part of a frame. The parts of a frame follow one another.
    Part(T),
    /// A bad frame. Parts of it may have come before.
    Bad(BadFrame),
}

#[derive(Debug)]
enum Phase {
    /// Looks for the short training symbols.
    Search(Search),
    /// Looks for the long training symbols; goes on with the search if there are none.
    Train(Search, Candidate),
    /// Takes the symbols of a frame: the number of the next one, and the index at which it begins.
    Take(Arc<Frame>, usize, u64),
}

/// Returns the index of the first useful sample of a symbol, for [`Estimate::straighten`]. The gains are taken from
/// samples that are as early as those of the symbols.
pub(super) fn place(number: usize) -> u64 {
    TO_SIGNAL + (number * SYMBOL + GUARD) as u64
}

/// Cuts a signal into frames.
#[derive(Debug)]
pub struct Synchroniser {
    samples: Vec<Complex32>,
    /// The index of the first of `samples` in the input.
    first: u64,
    /// Whether all samples of the input are there.
    is_over: bool,
    phase: Phase,
    /// The first place at which the long training symbols of a further frame may begin.
    not_before: u64,
    frames: u64,
    training: LongTraining,
    demodulator: Demodulator,
    viterbi: Viterbi,
}

impl Synchroniser {
    /// Creates a synchroniser at the beginning of its input.
    pub fn new() -> Self {
        Self {
            samples: Vec::new(),
            first: 0,
            is_over: false,
            phase: Phase::Search(Search::new(0)),
            not_before: 0,
            frames: 0,
            training: LongTraining::new(),
            demodulator: Demodulator::new(),
            viterbi: Viterbi::new(),
        }
    }

    /// Takes the next samples of the input.
    pub fn feed(&mut self, samples: &[Complex32]) {
        let needed = match &self.phase {
            Phase::Search(search) | Phase::Train(search, _) => search.needs_from(),
            Phase::Take(_, _, at) => *at,
        };
        let unused =
            needed.saturating_sub(self.first + 2 * LOOK_BACK).min(self.samples.len() as u64) as usize;
        self.samples.drain(..unused);
        self.first += unused as u64;
        self.samples.extend_from_slice(samples);
    }

    /// Ends the input: there are no more samples.
    pub fn end(&mut self) {
        self.is_over = true;
    }

    /// Returns the next piece of a frame. `None` if more samples are needed, or, at the end of the input, if there are
    /// no more frames.
    pub fn next(&mut self) -> Option<Piece<Group>> {
        loop {
            match &mut self.phase {
                Phase::Search(search) => {
                    let candidate = search.go_on(self.first, &self.samples)?;
                    let search = std::mem::replace(search, Search::new(0));
                    self.phase = Phase::Train(search, candidate);
                }
                Phase::Train(_, candidate) => {
                    let candidate = *candidate;
                    let places = candidate.places(self.not_before);
                    if !self.is_over && self.end_of_samples() < places.end + TO_SIGNAL + SYMBOL as u64 {
                        return None;
                    }
                    if let Some(bad) = self.train(&candidate) {
                        return Some(bad);
                    }
                }
                Phase::Take(frame, number, at) => {
                    let symbols = frame.signal.rate.symbols(frame.signal.bytes) + 1 - *number;
                    let count = symbols.min(GROUP);
                    let from = (*at - self.first) as usize;
                    let Some(samples) = self.samples.get(from..from + count * SYMBOL) else {
                        let frame = Arc::clone(frame);
                        return self.is_over.then(|| self.cut(frame.index, frame.first));
                    };
                    let begin = GUARD - EARLY as usize;
                    let useful =
                        samples.chunks_exact(SYMBOL).flat_map(|symbol| &symbol[begin..begin + USEFUL]);
                    let samples = useful.copied().collect();
                    let group = Group { frame: Arc::clone(frame), number: *number, samples };
                    *number += count;
                    *at += (count * SYMBOL) as u64;
                    if count == symbols {
                        let behind = *at;
                        self.search_from(behind);
                    }
                    return Some(Piece::Part(group));
                }
            }
        }
    }

    fn end_of_samples(&self) -> u64 {
        self.first + self.samples.len() as u64
    }

    fn search_from(&mut self, from: u64) {
        self.phase = Phase::Search(Search::new(from));
        self.not_before = from;
    }

    /// Reports a frame that the end of the input cuts. No other frame can follow.
    fn cut(&mut self, index: u64, first: u64) -> Piece<Group> {
        self.search_from(self.end_of_samples());
        Piece::Bad(BadFrame { index, first, fault: Fault::Cut })
    }

    /// Looks for the long training symbols and reads the SIGNAL field. Returns a frame whose field is wrong.
    fn train(&mut self, candidate: &Candidate) -> Option<Piece<Group>> {
        let places = candidate.places(self.not_before);
        let in_samples = |at: u64| (at.max(self.first) - self.first) as usize;
        let range = in_samples(places.start)..in_samples(places.end);
        let Some(long) = self.training.find(candidate, &self.samples, range) else {
            self.not_before = self.not_before.max(places.end);
            if let Phase::Train(search, _) = &mut self.phase {
                let search = std::mem::replace(search, Search::new(0));
                self.phase = Phase::Search(search);
            }
            return None;
        };
        let index = self.frames;
        self.frames += 1;
        let at = self.first + long as u64;
        let first = at.saturating_sub(TO_LONG);
        let field = long + TO_SIGNAL as usize + GUARD - EARLY as usize;
        if self.samples.len() < field + USEFUL {
            return Some(self.cut(index, first));
        }
        let estimate = self.training.estimate(&self.samples, long);
        let mut soft = Vec::with_capacity(2 * signal::BITS);
        let samples = &self.samples[field..field + USEFUL];
        self.demodulator.symbols(&estimate, Rate::SIGNAL, 0, place(0), samples, &mut soft);
        let mut bits = [0; 4];
        self.viterbi.decode(&soft, State::Zero, State::Zero, 0, &mut bits[..3]);
        let behind = at + TO_SIGNAL + SYMBOL as u64;
        match Signal::read(u32::from_le_bytes(bits)) {
            Ok(signal) => {
                let frame = Arc::new(Frame { index, first, signal, estimate });
                self.phase = Phase::Take(frame, 1, behind);
                None
            }
            Err(error) => {
                self.search_from(behind);
                Some(Piece::Bad(BadFrame { index, first, fault: Fault::Signal(error) }))
            }
        }
    }
}

impl Default for Synchroniser {
    fn default() -> Self {
        Self::new()
    }
}
