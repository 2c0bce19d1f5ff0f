//! The receiver that takes frame after frame: copies of one process take turns with whole frames.

use std::ops::ControlFlow::{Break, Continue};

use anabranch::network::Network;

use crate::by_frame::ByFrame;
use crate::{Input, Output, Result, Run};

use super::decode::{Bytes, Collector, Joiner, Received, decode, demodulate};
use super::demodulate::Demodulator;
use super::pieces::{Cutter, gather, spread};
use super::rate::end_of_data;
use super::symbols::USEFUL;
use super::synchronise::{BadFrame, Group, Piece};
use super::viterbi::Viterbi;

/// The groups of a frame, or as far as it could be received and why not further.
type Pieces<T> = Vec<Piece<T>>;

/// Whether a group is the last one of its frame.
fn is_last(group: &Group) -> bool {
    let signal = &group.frame.signal;
    let symbols = group.number - 1 + group.samples.len() / USEFUL;
    symbols * signal.rate.data_bits() >= end_of_data(signal.bytes)
}

/// The pieces up to the end of a frame. `None` at the end of the input.
fn next_frame(cut: &mut Cutter<'_>) -> Result<Option<Pieces<Group>>> {
    let mut pieces = Vec::new();
    loop {
        match cut.next()? {
            None => return Ok((!pieces.is_empty()).then_some(pieces)),
            // Samples in which nothing begins or goes on. One firing reads no more than these, unless it is in a frame.
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

/// What demodulates and decodes frames.
#[derive(Default)]
struct Decoder {
    demodulator: Demodulator,
    viterbi: Viterbi,
    joiner: Joiner,
}

impl Decoder {
    fn decode(&mut self, pieces: Pieces<Group>) -> Pieces<Bytes> {
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
            bytes.push(meter.time(|| decoder.decode(pieces)));
            Ok(())
        });
    }
    let (mut collector, meter, result) = (Collector::new(), run.meters().stage("write"), &mut received);
    net.rule("write", take_bytes.consumes(1), (), move |bytes, ()| {
        let pieces = bytes.pop().unwrap_or_default();
        meter.time(|| {
            pieces
                .into_iter()
                .try_for_each(|piece| collector.take(piece, |payload| output.put(payload), tell))
        })?;
        *result = collector.received();
        Ok(())
    });
    run.network(net)?;
    Ok(received)
}

/// Receives all frames of `input` as [`receive`](super::receive) does. `engine` demodulates and decodes some of them side by
/// side, after they were found one after the other.
///
/// # Errors
/// As of [`receive`](super::receive).
pub fn receive_frames_by(
    engine: &impl ByFrame,
    input: Input<'_>,
    output: &mut Output<'_>,
    mut tell: impl FnMut(&BadFrame) + Send,
) -> Result<Received> {
    let (mut cut, mut collector) = (Cutter::new(input), Collector::new());
    let next = || loop {
        match next_frame(&mut cut)? {
            Some(pieces) if pieces.is_empty() => {}
            pieces => return Ok(pieces),
        }
    };
    let code = |decoder: &mut Decoder, pieces: Pieces<Group>| decoder.decode(pieces);
    let write = |pieces: Pieces<Bytes>| {
        let mut put = |piece| collector.take(piece, |payload| output.put(payload), &mut tell);
        pieces.into_iter().try_for_each(&mut put)
    };
    engine.run(next, Decoder::default, code, write)?;
    Ok(collector.received())
}
