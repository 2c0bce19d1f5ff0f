//! The receiver: from samples to payloads.

use std::ops::ControlFlow::{Break, Continue};

use anabranch_network::Network;

use crate::{Input, Output, Result, Run};

use super::decode::{Bytes, Coded, Collector, Joiner, Received, Soft, decode, demodulate};
use super::demodulate::Demodulator;
use super::frames;
use super::pieces::{Cutter, gather, spread};
use super::synchronise::{BadFrame, Group, Piece};
use super::viterbi::Viterbi;

/// Receives all frames of `input`, and writes their payloads to `output`, one after the other. `tell` is called
/// with each bad frame, which is left out.
///
/// The input is complex samples at 20 MHz, each of which is two little-endian numbers of the type `f32`: the
/// real part and the imaginary part.
///
/// # Errors
/// If the input ends within a sample or has a number that is not finite, or if a file cannot be read or
/// written.
pub fn receive(
    input: Input<'_>,
    output: &mut Output<'_>,
    run: &Run,
    tell: impl FnMut(&BadFrame) + Send,
) -> Result<Received> {
    receive_by(Split::default(), input, output, run, tell)
}

/// Receives as [`receive`] does, with a network that shares the work in this way.
///
/// # Errors
/// The errors of [`receive`].
pub fn receive_by(
    split: Split,
    input: Input<'_>,
    output: &mut Output<'_>,
    run: &Run,
    mut tell: impl FnMut(&BadFrame) + Send,
) -> Result<Received> {
    let cut = Cutter::new(input);
    match split {
        _ if run.is_inline() => inline(cut, output, run, &mut tell),
        Split::Task => network(cut, output, 1, run, &mut tell),
        Split::Data => frames::network(cut, output, run, &mut tell),
        Split::Both => network(cut, output, run.workers(), run, &mut tell),
    }
}

/// The way in which the receiver's network shares the work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Split {
    /// Groups of symbols pass through one process for each stage
    Task,
    /// Copies of one process take turns with whole frames
    #[default]
    Data,
    /// Groups of symbols pass through the stages, whose copies take turns with them
    Both,
}

/// The sequential form.
fn inline(
    mut cut: Cutter<'_>,
    output: &mut Output<'_>,
    run: &Run,
    tell: &mut (dyn FnMut(&BadFrame) + Send),
) -> Result<Received> {
    let stage = |name| run.meters().stage(name);
    let (cutting, demodulating, decoding, writing) =
        (stage("synchronise"), stage("demodulate"), stage("decode"), stage("write"));
    let (mut demodulator, mut viterbi) = (Demodulator::new(), Viterbi::new());
    let (mut joiner, mut collector) = (Joiner::new(), Collector::new());
    let mut held: Option<Piece<Soft>> = None;
    loop {
        let piece = cutting.time(|| cut.next())?;
        let next =
            piece.map(|piece| demodulating.time(|| piece.map(|group| demodulate(&mut demodulator, &group))));
        let is_over = next.is_none();
        if let Some(piece) = held {
            let coded = piece.map(|part| joiner.join(part, next.as_ref()));
            let bytes = decoding.time(|| coded.map(|coded| decode(&mut viterbi, &coded)));
            writing.time(|| collector.take(bytes, |payload| output.put(payload), tell))?;
        }
        if is_over {
            return Ok(collector.received());
        }
        held = next;
    }
}

/// The network. Copies of the demodulator and of the decoder take turns with the pieces.
fn network(
    mut cut: Cutter<'_>,
    output: &mut Output<'_>,
    copies: usize,
    run: &Run,
    tell: &mut (dyn FnMut(&BadFrame) + Send),
) -> Result<Received> {
    let mut received = Received::default();
    let mut net = Network::new();
    let (give_groups, take_groups) = spread::<Piece<Group>>(&mut net, "groups", copies);
    let (give_soft, take_soft) = gather::<Piece<Soft>>(&mut net, "soft bits", copies);
    let (give_coded, take_coded) = spread::<Piece<Coded>>(&mut net, "coded bits", copies);
    let (give_bytes, take_bytes) = gather::<Piece<Bytes>>(&mut net, "bytes", copies);

    let meter = run.meters().stage("synchronise");
    let mut is_over = false;
    net.rule("synchronise", (), give_groups.produces(1), move |(), groups| {
        if is_over {
            return Ok(Break(()));
        }
        let piece = meter.time(|| cut.next())?;
        // The joiner needs the next piece too, so one more piece follows the last.
        is_over = piece.is_none();
        groups.push(piece.unwrap_or(Piece::Quiet));
        Ok(Continue(()))
    });
    for (take, give) in take_groups.into_iter().zip(give_soft) {
        let (mut demodulator, meter) = (Demodulator::new(), run.meters().stage("demodulate"));
        net.rule("demodulate", take.consumes(1), give.produces(1), move |groups, soft| {
            let piece = groups.pop().unwrap_or(Piece::Quiet);
            soft.push(meter.time(|| piece.map(|group| demodulate(&mut demodulator, &group))));
            Ok(())
        });
    }
    let mut joiner = Joiner::new();
    net.rule("join", take_soft.consumes(1).peeks(2), give_coded.produces(1), move |soft, coded| {
        let piece = soft.pop().unwrap_or(Piece::Quiet);
        coded.push(piece.map(|part| joiner.join(part, soft.get(0))));
        Ok(())
    });
    for (take, give) in take_coded.into_iter().zip(give_bytes) {
        let (mut viterbi, meter) = (Viterbi::new(), run.meters().stage("decode"));
        net.rule("decode", take.consumes(1), give.produces(1), move |coded, bytes| {
            let piece = coded.pop().unwrap_or(Piece::Quiet);
            bytes.push(meter.time(|| piece.map(|coded| decode(&mut viterbi, &coded))));
            Ok(())
        });
    }
    let (mut collector, meter, result) = (Collector::new(), run.meters().stage("write"), &mut received);
    net.rule("write", take_bytes.consumes(1), (), move |bytes, ()| {
        let piece = bytes.pop().unwrap_or(Piece::Quiet);
        meter.time(|| collector.take(piece, |payload| output.put(payload), tell))?;
        *result = collector.received();
        Ok(())
    });
    run.network(net)?;
    Ok(received)
}
