//! From soft bits to payloads: the parts of a receiver behind the demodulator.
//!
//! The decoder takes each group of symbols by itself, so that groups can be decoded at the same time. It begins some
//! bits before the group and ends some bits behind it, so that all likely paths have joined.

use std::sync::Arc;

use crate::Result;

use super::demodulate::Demodulator;
use super::frame::{CHECK_BYTES, checked, descramble};
use super::rate::{SERVICE_BITS, end_of_data};
use super::synchronise::{BadFrame, Fault, Frame, Group, Piece, place};
use super::viterbi::{State, Viterbi};

/// The number of data bits before and behind a group that the decoder uses. They are about 18 constraint lengths,
/// because at the rate 3/4 paths join late.
const OVERLAP: usize = 128;
/// The soft bits of the overlap.
const OVERLAP_SOFT: usize = 2 * OVERLAP;

/// Soft bits of a group of symbols.
#[derive(Debug)]
pub struct Soft {
    frame: Arc<Frame>,
    /// The number of the group's first data bit in the frame, and of the first one behind it.
    bits: std::ops::Range<usize>,
    /// Room for the overlap with the group before, then the soft bits of this group.
    soft: Vec<i8>,
}

impl Soft {
    /// Returns the soft bits: two for each data bit.
    pub(super) fn soft(&self) -> &[i8] {
        &self.soft[OVERLAP_SOFT..]
    }
}

/// Demodulates a group.
pub fn demodulate(demodulator: &mut Demodulator, group: &Group) -> Soft {
    let Group { frame, number, samples } = group;
    let rate = frame.signal.rate;
    let first = (number - 1) * rate.data_bits();
    let mut soft = vec![0; OVERLAP_SOFT];
    demodulator.symbols(&frame.estimate, rate, *number, place(*number), samples, &mut soft);
    let count = (soft.len() - OVERLAP_SOFT) / 2;
    Soft { frame: Arc::clone(frame), bits: first..first + count, soft }
}

/// The soft bits of a group with parts of its neighbours, as the decoder needs them.
#[derive(Debug)]
pub struct Coded {
    frame: Arc<Frame>,
    soft: Vec<i8>,
    /// The index in `soft` at which the overlap with the group before begins.
    from: usize,
    end: State,
    /// The number of bytes of the group.
    bytes: usize,
    is_last: bool,
}

/// Joins each group with parts of its neighbours.
#[derive(Debug)]
pub struct Joiner {
    /// The end of the group before.
    before: [i8; OVERLAP_SOFT],
}

impl Joiner {
    /// Creates a joiner at the beginning of its input.
    pub fn new() -> Self {
        Self { before: [0; OVERLAP_SOFT] }
    }

    /// Joins a group with the end of the one before and the beginning of the next. `next` is the piece that follows in
    /// the input; it is used only if it belongs to the same frame.
    pub fn join(&mut self, part: Soft, next: Option<&Piece<Soft>>) -> Coded {
        let Soft { frame, bits, mut soft } = part;
        let from = if bits.start == 0 { OVERLAP_SOFT } else { 0 };
        soft[..OVERLAP_SOFT].copy_from_slice(&self.before);
        // All groups but the last of a frame are longer than the overlap.
        if let Some(end) = soft[OVERLAP_SOFT..].last_chunk() {
            self.before = *end;
        }
        let end_of_message = end_of_data(frame.signal.bytes);
        let is_last = bits.end >= end_of_message;
        let mut end = State::Any;
        if is_last {
            soft.truncate(OVERLAP_SOFT + 2 * (end_of_message - bits.start));
            end = State::Zero;
        } else if let Some(Piece::Part(next)) = next
            && Arc::ptr_eq(&next.frame, &frame)
        {
            let behind = (end_of_message - bits.end).min(OVERLAP);
            if behind < OVERLAP {
                end = State::Zero;
            }
            soft.extend_from_slice(&next.soft[OVERLAP_SOFT..][..2 * behind]);
        }
        let end_of_bytes = SERVICE_BITS + 8 * frame.signal.bytes;
        let bytes = end_of_bytes.min(bits.end).saturating_sub(bits.start) / 8;
        Coded { frame, soft, from, end, bytes, is_last }
    }
}

impl Default for Joiner {
    fn default() -> Self {
        Self::new()
    }
}

/// The bytes of a group, still scrambled.
#[derive(Debug)]
pub struct Bytes {
    frame: Arc<Frame>,
    bytes: Vec<u8>,
    is_last: bool,
}

impl Bytes {
    /// Returns the number of bytes.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the bytes.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Decodes a group.
pub fn decode(viterbi: &mut Viterbi, coded: &Coded) -> Bytes {
    let begin = if coded.from == 0 { State::Any } else { State::Zero };
    let mut bytes = vec![0; coded.bytes];
    let skip = (OVERLAP_SOFT - coded.from) / 2;
    viterbi.decode(&coded.soft[coded.from..], begin, coded.end, skip, &mut bytes);
    Bytes { frame: Arc::clone(&coded.frame), bytes, is_last: coded.is_last }
}

/// The numbers of frames that were received.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Received {
    /// Good frames.
    pub good: u64,
    /// Bad frames, which were left out.
    pub bad: u64,
}

/// Puts the bytes of each frame together, and checks them.
#[derive(Debug, Default, Clone)]
pub struct Collector {
    bytes: Vec<u8>,
    received: Received,
}

impl Collector {
    /// Creates a collector without bytes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next piece. If it completes a good frame, calls `put` with its payload; if the frame is bad, calls
    /// `tell`.
    ///
    /// # Errors
    /// The error of `put`.
    pub fn take(
        &mut self,
        piece: Piece<Bytes>,
        put: impl FnOnce(&[u8]) -> Result<()>,
        tell: &mut (impl FnMut(&BadFrame) + ?Sized),
    ) -> Result<()> {
        let part = match piece {
            Piece::Quiet => return Ok(()),
            Piece::Bad(bad) => {
                self.bytes.clear();
                self.received.bad += 1;
                tell(&bad);
                return Ok(());
            }
            Piece::Part(part) => part,
        };
        self.bytes.extend_from_slice(&part.bytes);
        if !part.is_last {
            return Ok(());
        }
        let result = match payload(&mut self.bytes) {
            Ok(payload) => {
                self.received.good += 1;
                put(payload)
            }
            Err(fault) => {
                self.received.bad += 1;
                tell(&BadFrame { index: part.frame.index, first: part.frame.first, fault });
                Ok(())
            }
        };
        self.bytes.clear();
        result
    }

    /// Returns the numbers of frames that were received.
    pub fn received(&self) -> Received {
        self.received
    }
}

/// Returns the payload in the scrambled bytes of a frame, which begin with the SERVICE field.
fn payload(bytes: &mut [u8]) -> std::result::Result<&[u8], Fault> {
    if bytes.len() < SERVICE_BITS / 8 + CHECK_BYTES {
        return Err(Fault::Short);
    }
    descramble(bytes).ok_or(Fault::Scrambler)?;
    checked(&bytes[SERVICE_BITS / 8..]).ok_or(Fault::Check)
}
