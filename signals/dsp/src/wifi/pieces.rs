//! The common parts of the receiver's networks: cutting a signal, and passing pieces between copies of a stage.

use anabranch_network::{Horizon, Network, Reader, Writer};

use crate::{Error, Input, Result};

use super::samples::Source;
use super::synchronise::{Group, Piece, Synchroniser};

/// The number of samples that are read at once.
const BLOCK: usize = 2_048;

/// Reads samples, and cuts them into groups of symbols.
pub(super) struct Cutter<'a> {
    source: Source<'a>,
    block: Vec<dsp_transforms::num_complex::Complex32>,
    synchroniser: Synchroniser,
    is_over: bool,
}

impl<'a> Cutter<'a> {
    pub(super) fn new(input: Input<'a>) -> Self {
        Self {
            source: Source::new(input),
            block: Vec::with_capacity(BLOCK),
            synchroniser: Synchroniser::new(),
            is_over: false,
        }
    }

    /// Returns the next piece. Reads at most one block for it. `None` at the end of the input.
    pub(super) fn next(&mut self) -> Result<Option<Piece<Group>>> {
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
    /// Returns the same piece, with its part changed by `code`.
    pub(super) fn map<U>(self, code: impl FnOnce(T) -> U) -> Piece<U> {
        match self {
            Piece::Quiet => Piece::Quiet,
            Piece::Part(part) => Piece::Part(code(part)),
            Piece::Bad(bad) => Piece::Bad(bad),
        }
    }
}

/// The number of pieces that a record holds for each copy of a stage.
const HELD: usize = 4;

/// Adds a record from one process to copies of a stage, which take turns.
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

/// Adds a record from copies of a stage, which take turns, to one process.
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
