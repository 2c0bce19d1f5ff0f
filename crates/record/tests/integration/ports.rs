//! The ports of a line, joined as the engine joins them: a source creates indices and writes a lane, a stage
//! reads a lane and writes another one, and a sink reads a lane and gives indices back.
#![cfg(loom)]

use anabranch_record::lane::{
    Arrived, Cell, Claim, Committed, Dealer, Domain, Exit, Indices, Putter, Reader, Stamped, Turn, Watch,
    Writer,
};
use anabranch_record::sync::Arc;

/// Opens a domain: its source, the lane behind it, and its exit.
pub fn open<T: Send>(window: usize) -> (Source<T>, Committed<T>, Exit) {
    let (indices, exit) = Domain::open(window);
    let (writer, lane) = Domain::lane(indices.domain());
    (Source { indices, writer }, lane, exit)
}

pub struct Source<T> {
    indices: Indices,
    writer: Writer<T>,
}

impl<T: Send> Source<T> {
    pub fn domain(&self) -> &Arc<Domain> {
        self.indices.domain()
    }

    pub fn fresh_room(&mut self) -> u64 {
        self.indices.fresh_room()
    }

    pub fn put(&mut self, cell: Cell<T>) {
        self.writer.put(self.indices.open(), cell);
        self.indices.show();
    }
}

pub struct Stage<T, U> {
    pub reader: Reader<T>,
    pub writer: Writer<U>,
}

impl<T, U> Stage<T, U> {
    /// Takes the next cell, if it is there, and puts what `f` makes of it.
    pub fn pass(&mut self, f: impl FnOnce(Cell<T>) -> Cell<U>) {
        if let Some((turn, cell)) = self.reader.take() {
            self.writer.put(turn, f(cell));
        }
    }
}

pub struct Sink<T> {
    pub reader: Reader<T>,
    pub exit: Exit,
}

impl<T> Sink<T> {
    /// Gives back the last cell, and takes the next one.
    pub fn take(&mut self) -> Option<Cell<T>> {
        self.release();
        self.reader.take().map(|(_, cell)| cell)
    }

    pub fn release(&mut self) {
        if self.reader.turn().is_open() {
            self.exit.release(self.reader.turn());
        }
    }

    pub fn watch(&self) -> Watch<T> {
        self.reader.watch()
    }
}

/// The two ports of a parallel unit as one, for models that put each result where they took the cell.
pub struct Hop<T, U> {
    dealer: Dealer<T>,
    putter: Putter<U>,
}

/// A claim of a [`Hop`].
pub struct HopClaim<'h, T, U> {
    claim: Claim<'h, T>,
    turn: Turn,
    putter: &'h Putter<U>,
}

impl<T, U: Send> Hop<T, U> {
    pub fn new(lane: Committed<T>) -> (Self, Stamped<U>) {
        let (dealer, outlet) = lane.dealer();
        let (putter, lane) = outlet.lane();
        (Self { dealer, putter }, lane)
    }

    pub fn unordered(lane: Committed<T>) -> (Self, Arrived<U>) {
        let (dealer, outlet) = lane.dealer();
        let (putter, lane) = outlet.unordered_lane();
        (Self { dealer, putter }, lane)
    }

    pub fn domain(&self) -> &Arc<Domain> {
        self.dealer.domain()
    }

    pub fn ready(&self) -> u64 {
        self.dealer.ready()
    }

    pub fn claim(&self, most: u64) -> Option<HopClaim<'_, T, U>> {
        let (claim, turn) = self.dealer.claim(most)?;
        Some(HopClaim { claim, turn, putter: &self.putter })
    }
}

impl<T, U> HopClaim<'_, T, U> {
    /// The index that is put next.
    pub fn index(&self) -> u64 {
        self.turn.index()
    }

    pub fn take(&mut self) -> Option<Cell<T>> {
        self.claim.take()
    }

    pub fn put(&mut self, cell: Cell<U>) {
        self.putter.put(&mut self.turn, cell);
    }
}

/// Applies a function to the value of a cell.
pub fn map<T, U>(cell: Cell<T>, f: impl FnOnce(T) -> U) -> Cell<U> {
    match cell {
        Cell::Value(item) => Cell::Value(f(item)),
        _ => unreachable!("the items of a model are single"),
    }
}
