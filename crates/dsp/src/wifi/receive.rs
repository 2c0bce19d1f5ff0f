//! The receiver: from samples to payloads.

use std::ops::ControlFlow::{Break, Continue};

use anabranch::network::{Horizon, Network, Reader, Writer};

use crate::{Error, Input, Output, Result, Run};

use super::decode::{Bytes, Coded, Collector, Joiner, Received, Soft, decode, demodulate};
use super::demodulate::Demodulator;
use super::samples::Source;
use super::synchronise::{BadFrame, Group, Piece, Synchroniser};
use super::viterbi::Viterbi;

/// Samples that are read at once.
const BLOCK: usize = 2_048;

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
    mut tell: impl FnMut(&BadFrame) + Send,
) -> Result<Received> {
    let cut = Cutter::new(input);
    if run.is_inline() { inline(cut, output, run, &mut tell) } else { network(cut, output, run, &mut tell) }
}

/// Reads samples, and cuts them into groups of symbols.
struct Cutter<'a> {
    source: Source<'a>,
    block: Vec<rustfft::num_complex::Complex32>,
    synchroniser: Synchroniser,
    is_over: bool,
}

impl<'a> Cutter<'a> {
    fn new(input: Input<'a>) -> Self {
        Self {
            source: Source::new(input),
            block: Vec::with_capacity(BLOCK),
            synchroniser: Synchroniser::new(),
            is_over: false,
        }
    }

    /// The next piece. Reads at most one block for it. `None` at the end of the input.
    fn next(&mut self) -> Result<Option<Piece<Group>>> {
        let piece = self.synchroniser.next();
        if piece.is_some() || self.is_over {
            return Ok(piece);
        }
        self.source.read(BLOCK, &mut self.block)?;
        self.synchroniser.feed(&self.block);
        if self.block.len() < BLOCK {
            self.is_over = true;
            self.synchroniser.end();
        }
        Ok(Some(self.synchroniser.next().unwrap_or(Piece::Quiet)))
    }
}

impl<T> Piece<T> {
    /// The same piece, with its part changed by `code`.
    fn map<U>(self, code: impl FnOnce(T) -> U) -> Piece<U> {
        match self {
            Piece::Quiet => Piece::Quiet,
            Piece::Part(part) => Piece::Part(code(part)),
            Piece::Bad(bad) => Piece::Bad(bad),
        }
    }
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
    run: &Run,
    tell: &mut (dyn FnMut(&BadFrame) + Send),
) -> Result<Received> {
    let copies = run.workers();
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
        // The joiner sees the next piece too, so one more follows the last.
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

/// Pieces that a record holds for each copy of a stage.
const HELD: usize = 4;

/// A record from one process to copies of a stage, which take turns.
pub(super) fn spread<'env, T: Send + 'env>(
    net: &mut Network<'env, Error>,
    name: &str,
    copies: usize,
) -> (Writer<T>, Vec<Reader<T>>) {
    let horizon = Horizon::of(HELD * copies).named(name);
    if copies == 1 {
        let (give, take) = net.record(horizon);
        return (give, vec![take]);
    }
    net.deal(horizon, copies, 1)
}

/// A record from copies of a stage, which take turns, to one process.
pub(super) fn gather<'env, T: Send + 'env>(
    net: &mut Network<'env, Error>,
    name: &str,
    copies: usize,
) -> (Vec<Writer<T>>, Reader<T>) {
    let horizon = Horizon::of(HELD * copies).named(name);
    if copies == 1 {
        let (give, take) = net.record(horizon);
        return (vec![give], take);
    }
    net.merge(horizon, copies, 1)
}
