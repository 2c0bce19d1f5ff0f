//! The receiver by frames: copies of one process take turns with whole frames.

use std::ops::ControlFlow::{Break, Continue};

use anabranch_network::Network;

use crate::by_frame::ByFrame;
use crate::{Input, Output, Result, Run};

use super::decode::{Bytes, Collector, Joiner, Received, decode, demodulate};
use super::demodulate::Demodulator;
use super::pieces::{Cutter, gather, spread};
use super::rate::end_of_data;
use super::samples::SAMPLE_BYTES;
use super::symbols::USEFUL;
use super::synchronise::{BadFrame, Group, Piece};
use super::viterbi::Viterbi;

/// The groups of a frame, up to the fault if it could not be received completely.
type Pieces<T> = Vec<Piece<T>>;

/// Returns whether a group is the last one of its frame.
fn is_last(group: &Group) -> bool {
    let signal = &group.frame.signal;
    let symbols = group.number - 1 + group.samples.len() / USEFUL;
    symbols * signal.rate.data_bits() >= end_of_data(signal.bytes)
}

/// Returns the pieces up to the end of a frame. `None` at the end of the input.
fn next_frame(cut: &mut Cutter<'_>) -> Result<Option<Pieces<Group>>> {
    let mut pieces = Vec::new();
    loop {
        match cut.next()? {
            None => return Ok((!pieces.is_empty()).then_some(pieces)),
            // Quiet samples outside frames. A firing outside a frame reads only one such piece.
            Some(Piece::Quiet) if pieces.is_empty() => return Ok(Some(pieces)),
            Some(Piece::Quiet) => {}
            Some(Piece::Part(group)) => {
                let is_last = is_last(&group);
                pieces.push(Piece::Part(group));
                if is_last {
                    return Ok(Some(pieces));
                }
            }
            Some(Piece::Bad(bad)) => {
                pieces.push(Piece::Bad(bad));
                return Ok(Some(pieces));
            }
        }
    }
}

/// A frame that was found in a signal, or a bad one.
#[derive(Debug)]
pub struct Frame(Pieces<Group>);

impl Frame {
    /// Returns the size of the frame's samples in bytes.
    pub fn len(&self) -> usize {
        let samples = |piece: &Piece<Group>| match piece {
            Piece::Part(group) => group.samples.len(),
            Piece::Quiet | Piece::Bad(_) => 0,
        };
        SAMPLE_BYTES * self.0.iter().map(samples).sum::<usize>()
    }

    /// Returns whether the frame has no samples, because its beginning is bad.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The bytes of a frame, which [`Payloads`] checks.
#[derive(Debug)]
pub struct Decoded(Pieces<Bytes>);

impl Decoded {
    /// Returns the number of bytes that were decoded.
    pub fn len(&self) -> usize {
        let bytes = |piece: &Piece<Bytes>| match piece {
            Piece::Part(part) => part.len(),
            Piece::Quiet | Piece::Bad(_) => 0,
        };
        self.0.iter().map(bytes).sum()
    }

    /// Returns whether nothing was decoded.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Finds the frames of a signal, which [`Decoder`]s can decode side by side.
#[allow(missing_debug_implementations)] // it is the state of a synchroniser
pub struct Frames<'a>(Cutter<'a>);

impl<'a> Frames<'a> {
    /// Creates the frames of a signal in the form that [`receive`](super::receive) takes.
    pub fn new(input: Input<'a>) -> Self {
        Self(Cutter::new(input))
    }

    fn cut(&mut self) -> Result<Option<Frame>> {
        loop {
            match next_frame(&mut self.0)? {
                Some(pieces) if pieces.is_empty() => {}
                pieces => return Ok(pieces.map(Frame)),
            }
        }
    }
}

impl Iterator for Frames<'_> {
    type Item = Result<Frame>;

    fn next(&mut self) -> Option<Result<Frame>> {
        self.cut().transpose()
    }
}

/// Demodulates and decodes frames.
#[derive(Default)]
#[allow(missing_debug_implementations)] // it is memory for transforms and for paths
pub struct Decoder {
    demodulator: Demodulator,
    viterbi: Viterbi,
    joiner: Joiner,
}

impl Decoder {
    /// Creates a decoder for frames, which may come in any order.
    pub fn new() -> Self {
        Self::default()
    }

    /// Decodes a frame.
    pub fn decode(&mut self, frame: Frame) -> Decoded {
        Decoded(self.pieces(frame.0))
    }

    fn pieces(&mut self, pieces: Pieces<Group>) -> Pieces<Bytes> {
        let mut soft =
            pieces.into_iter().map(|piece| piece.map(|group| demodulate(&mut self.demodulator, &group)));
        let (mut held, mut decoded) = (soft.next(), Vec::new());
        while let Some(piece) = held {
            let next = soft.next();
            let coded = piece.map(|part| self.joiner.join(part, next.as_ref()));
            decoded.push(coded.map(|coded| decode(&mut self.viterbi, &coded)));
            held = next;
        }
        decoded
    }
}

/// Checks the frames, one after the other, and returns their payloads.
#[derive(Debug, Default, Clone)]
pub struct Payloads(Collector);

impl Payloads {
    /// Creates the state before the first frame.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next frame. Calls `put` with its payload if it is good, and `tell` otherwise.
    ///
    /// # Errors
    /// The error of `put`.
    pub fn take(
        &mut self,
        frame: Decoded,
        put: impl FnMut(&[u8]) -> Result<()>,
        tell: &mut (impl FnMut(&BadFrame) + ?Sized),
    ) -> Result<()> {
        self.pieces(frame.0, put, tell)
    }

    fn pieces(
        &mut self,
        pieces: Pieces<Bytes>,
        mut put: impl FnMut(&[u8]) -> Result<()>,
        tell: &mut (impl FnMut(&BadFrame) + ?Sized),
    ) -> Result<()> {
        pieces.into_iter().try_for_each(|piece| self.0.take(piece, &mut put, tell))
    }

    /// Returns the numbers of good and bad frames.
    pub fn received(&self) -> Received {
        self.0.received()
    }
}

/// The network.
pub(super) fn network(
    mut cut: Cutter<'_>,
    output: &mut Output<'_>,
    run: &Run,
    tell: &mut (dyn FnMut(&BadFrame) + Send),
) -> Result<Received> {
    let mut received = Received::default();
    let mut net = Network::new();
    let (give_frames, take_frames) = spread::<Pieces<Group>>(&mut net, "frames", run.workers());
    let (give_bytes, take_bytes) = gather::<Pieces<Bytes>>(&mut net, "bytes", run.workers());
    let meter = run.meters().stage("synchronise");
    net.rule("synchronise", (), give_frames.produces(1), move |(), frames| {
        Ok(match meter.time(|| next_frame(&mut cut))? {
            Some(pieces) => {
                frames.push(pieces);
                Continue(())
            }
            None => Break(()),
        })
    });
    for (take, give) in take_frames.into_iter().zip(give_bytes) {
        let (mut decoder, meter) = (Decoder::default(), run.meters().stage("decode frames"));
        net.rule("decode frames", take.consumes(1), give.produces(1), move |frames, bytes| {
            let pieces = frames.pop().unwrap_or_default();
            bytes.push(meter.time(|| decoder.pieces(pieces)));
            Ok(())
        });
    }
    let (mut payloads, meter, result) = (Payloads::new(), run.meters().stage("write"), &mut received);
    net.rule("write", take_bytes.consumes(1), (), move |bytes, ()| {
        let pieces = bytes.pop().unwrap_or_default();
        meter.time(|| payloads.pieces(pieces, |payload| output.put(payload), tell))?;
        *result = payloads.received();
        Ok(())
    });
    run.network(net)?;
    Ok(received)
}

/// Receives all frames of `input` as [`receive`](super::receive) does. The frames are found one after the other.
/// `engine` demodulates and decodes some of them side by side.
///
/// # Errors
/// The errors of [`receive`](super::receive).
pub fn receive_frames_by(
    engine: &impl ByFrame,
    input: Input<'_>,
    output: &mut Output<'_>,
    mut tell: impl FnMut(&BadFrame) + Send,
) -> Result<Received> {
    let (mut frames, mut payloads) = (Frames::new(input), Payloads::new());
    let code = |decoder: &mut Decoder, frame: Frame| decoder.decode(frame);
    let write = |frame: Decoded| payloads.take(frame, |payload| output.put(payload), &mut tell);
    engine.run(|| frames.cut(), Decoder::new, code, write)?;
    Ok(payloads.received())
}
