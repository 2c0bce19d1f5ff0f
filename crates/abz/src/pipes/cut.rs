//! Cutting of contents into blocks. A stream reads the contents, and a writer is given them.

use std::collections::VecDeque;
use std::io::Read;
use std::mem;
use std::ops::Deref;

use abz_codec::{Block, Cutter};
use anabranch::{Recycled, Recycler};

use crate::compression::Compression;
use crate::error::Error;

/// Cuts contents into blocks.
pub(crate) trait Cut<B>: Send {
    /// Reads from `input` until a block is complete, and returns it. Returns `None` when `input` gives no more bytes: then
    /// the contents may go on in another input, or [`rest`](Self::rest) returns the blocks that are left.
    fn next(&mut self, input: &mut dyn Read) -> Result<Option<B>, Error>;

    /// Returns a block of the bytes that are in no block yet, if there is one. Call it until it returns `None`, which
    /// it does again if it is called again. More contents may follow, unless this is the end of the file.
    fn rest(&mut self, is_end: bool) -> Result<Option<B>, Error>;

    /// As [`rest`](Self::rest) where the contents are flushed. Also returns whether the block is to be encoded with the
    /// contents before it ([`Flushing`](super::encode::Flushing)).
    fn flush(&mut self) -> Result<Option<(B, bool)>, Error> {
        Ok(self.rest(false)?.map(|block| (block, false)))
    }
}

/// Decides which flushed blocks are encoded with the contents before them. Such blocks are not decoded in parallel, and nobody
/// finds them without decoding those before. So they are short ones at the start of a file, which may be a log, and those that
/// follow another short one.
#[derive(Clone, Copy)]
pub(crate) struct Flushes {
    /// Blocks of fewer bytes are short.
    least: usize,
    /// Whether there were blocks, and the last one was a short one.
    has_begun: bool,
    was_short: bool,
    /// Whether a block was encoded with contents before it.
    has_any: bool,
}

impl Flushes {
    /// Begins a file.
    pub(crate) fn new(how: &Compression) -> Self {
        Flushes { least: how.block_len() / 4, has_begun: false, was_short: false, has_any: false }
    }

    /// Notes a block that was not flushed.
    pub(crate) fn block(&mut self) {
        (self.has_begun, self.was_short) = (true, false);
    }

    /// Notes a flushed block of `len` bytes. Returns whether it is to be encoded with the contents before it.
    pub(crate) fn flushed(&mut self, len: usize) -> bool {
        let is_short = len < self.least;
        let keeps = is_short && (self.was_short || self.has_any || !self.has_begun);
        self.has_any |= keeps;
        (self.has_begun, self.was_short) = (true, is_short);
        keeps
    }

    /// Returns whether the file began with blocks that can be decoded by themselves.
    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun && !self.has_any
    }
}

/// A block whose buffer goes back to its recycler.
pub(crate) struct LentBlock {
    block: Block,
    home: Recycled<Vec<u8>>,
}

impl Deref for LentBlock {
    type Target = Block;

    fn deref(&self) -> &Block {
        &self.block
    }
}

impl Drop for LentBlock {
    fn drop(&mut self) {
        *self.home = mem::take(&mut self.block.data);
    }
}

/// Cuts blocks of equal size or by their contents, in buffers that are used again.
pub(crate) struct Cuts {
    cutter: Cutter,
    buffers: Recycler<Vec<u8>>,
    /// The homes of the buffers of the blocks that are being cut, in the order of the blocks.
    homes: VecDeque<Recycled<Vec<u8>>>,
    /// If flushed blocks may be encoded with the contents before them.
    flushes: Option<Flushes>,
}

impl Cuts {
    /// Cuts as `how` says.
    pub(crate) fn new(how: &Compression, buffers: Recycler<Vec<u8>>) -> Self {
        let size = how.block_len();
        let cutter = if how.rsyncable { Cutter::by_content(size) } else { Cutter::new(size) };
        Cuts { cutter, buffers, homes: VecDeque::new(), flushes: None }
    }

    /// Lets flushed blocks be encoded with the contents before them.
    pub(crate) fn flushing(self, how: &Compression) -> Self {
        Cuts { flushes: Some(Flushes::new(how)), ..self }
    }

    fn lent(&mut self, block: Option<Block>) -> Option<LentBlock> {
        let block = block?;
        // An empty file has a block without a buffer.
        let home = self.homes.pop_front().unwrap_or_else(|| self.buffers.take());
        Some(LentBlock { block, home })
    }
}

impl Cut<LentBlock> for Cuts {
    fn next(&mut self, input: &mut dyn Read) -> Result<Option<LentBlock>, Error> {
        let Cuts { cutter, buffers, homes, .. } = self;
        let buffer = || {
            let mut home = buffers.take();
            let buffer = mem::take(&mut *home);
            homes.push_back(home);
            buffer
        };
        let block = cutter.next(input, buffer).map_err(Error::of_input)?;
        if block.is_some() {
            self.flushes.iter_mut().for_each(Flushes::block);
        }
        Ok(self.lent(block))
    }

    fn rest(&mut self, is_end: bool) -> Result<Option<LentBlock>, Error> {
        let block = self.cutter.rest(is_end);
        Ok(self.lent(block))
    }

    fn flush(&mut self) -> Result<Option<(LentBlock, bool)>, Error> {
        Ok(self.rest(false)?.map(|block| {
            let keeps = self.flushes.as_mut().is_some_and(|flushes| flushes.flushed(block.data.len()));
            (block, keeps)
        }))
    }
}

/// Cuts portions of at most a number of bytes. Their ends make no difference.
pub(crate) struct Portions {
    most: usize,
    buffers: Recycler<Vec<u8>>,
}

impl Portions {
    pub(crate) fn new(most: usize, buffers: Recycler<Vec<u8>>) -> Self {
        Portions { most, buffers }
    }
}

impl Cut<Recycled<Vec<u8>>> for Portions {
    fn next(&mut self, input: &mut dyn Read) -> Result<Option<Recycled<Vec<u8>>>, Error> {
        let mut portion = self.buffers.take();
        portion.clear();
        input.take(self.most as u64).read_to_end(&mut portion).map_err(Error::of_input)?;
        Ok((!portion.is_empty()).then_some(portion))
    }

    fn rest(&mut self, _: bool) -> Result<Option<Recycled<Vec<u8>>>, Error> {
        Ok(None)
    }
}
