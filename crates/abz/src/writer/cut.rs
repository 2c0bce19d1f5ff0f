//! Cutting of data that is pushed into blocks.

use std::collections::VecDeque;
use std::mem;

use abz_codec::bzip2::{Level, Packed, Packer};
use abz_codec::{Block, Blocks, NoMemory};
use anabranch::{Recycled, Recycler};

use crate::error::Error;
use crate::formats::writes::Compression;
use crate::pipes::LentBlock;

/// Cuts data that is pushed to it into blocks.
pub(crate) trait Cut<B>: Send {
    /// Takes bytes from the front of `data`. Returns a block once one is full; bytes may be left then. Otherwise all bytes
    /// are taken.
    fn push(&mut self, data: &mut &[u8]) -> Result<Option<B>, Error>;

    /// Returns a block of the bytes that are in no block yet, if there is one. Call it until it returns `None`, which
    /// it does again if it is called again. More data may follow, unless this is the end of the file.
    fn rest(&mut self, is_end: bool) -> Result<Option<B>, Error>;
}

/// Returns what cuts data as `how` says, in buffers that are used again, of which at most `keep` idle ones are kept.
pub(crate) fn blocks(how: &Compression, keep: usize) -> Box<dyn Cut<LentBlock>> {
    let (size, buffers) = (how.block_len(), Recycler::new(keep, Vec::new));
    match how.rsyncable {
        true => Box::new(ByContent { blocks: how.blocks(VecDeque::new()), size, buffers, number: 0 }),
        false => Box::new(BySize { size, buffers, filling: None, number: 0 }),
    }
}

/// Cuts blocks of equal size.
struct BySize {
    size: usize,
    buffers: Recycler<Vec<u8>>,
    /// The block that is not yet full, or that is full and perhaps the last one.
    filling: Option<Recycled<Vec<u8>>>,
    /// The number of blocks before it.
    number: u64,
}

impl BySize {
    /// Returns an empty buffer with room for a block.
    fn buffer(&self) -> Result<Recycled<Vec<u8>>, Error> {
        let mut buffer = self.buffers.take();
        buffer.clear();
        match buffer.try_reserve_exact(self.size) {
            Ok(()) => Ok(buffer),
            Err(_) => Err(Error::Memory(NoMemory { needed: self.size as u64 })),
        }
    }

    fn block(&mut self, mut home: Recycled<Vec<u8>>, whole: bool) -> LentBlock {
        let block = Block { number: self.number, data: mem::take(&mut *home), whole };
        self.number += 1;
        LentBlock::new(block, home)
    }
}

impl Cut<LentBlock> for BySize {
    fn push(&mut self, data: &mut &[u8]) -> Result<Option<LentBlock>, Error> {
        while !data.is_empty() {
            let mut filling = match self.filling.take() {
                Some(filling) if filling.len() == self.size => return Ok(Some(self.block(filling, false))),
                Some(filling) => filling,
                None => self.buffer()?,
            };
            let (some, rest) = data.split_at(data.len().min(self.size - filling.len()));
            filling.extend_from_slice(some);
            self.filling = Some(filling);
            *data = rest;
        }
        Ok(None)
    }

    fn rest(&mut self, is_end: bool) -> Result<Option<LentBlock>, Error> {
        // An empty file becomes one empty block.
        let is_whole = is_end && self.number == 0;
        match self.filling.take() {
            None if is_whole => {
                let buffer = self.buffer()?;
                Ok(Some(self.block(buffer, true)))
            }
            filling => Ok(filling.map(|filling| self.block(filling, is_whole))),
        }
    }
}

/// Cuts blocks where their contents determine.
struct ByContent {
    /// Cuts the bytes that are held for it. It is asked only while it cannot come to their end, or at the end.
    blocks: Blocks<VecDeque<u8>>,
    /// The maximum size of a block.
    size: usize,
    buffers: Recycler<Vec<u8>>,
    /// The number of blocks that were returned.
    number: u64,
}

impl ByContent {
    fn next(&mut self) -> Result<Option<LentBlock>, Error> {
        let mut home = self.buffers.take();
        let block = self.blocks.read_into(mem::take(&mut *home)).map_err(Error::of_input)?;
        self.number += u64::from(block.is_some());
        Ok(block.map(|block| LentBlock::new(block, home)))
    }
}

impl Cut<LentBlock> for ByContent {
    fn push(&mut self, data: &mut &[u8]) -> Result<Option<LentBlock>, Error> {
        let held = self.blocks.get_mut();
        // One byte more than a block, which says that the file goes on.
        let (some, rest) = data.split_at(data.len().min((self.size + 1).saturating_sub(held.len())));
        held.extend(some);
        *data = rest;
        if held.len() > self.size { self.next() } else { Ok(None) }
    }

    fn rest(&mut self, is_end: bool) -> Result<Option<LentBlock>, Error> {
        if is_end {
            return self.next();
        }
        let is_new = self.number == 0 && self.blocks.get_mut().is_empty();
        let next = if is_new { None } else { self.next()? };
        if next.is_none() {
            self.blocks.go_on();
        }
        Ok(next.map(LentBlock::in_larger_file))
    }
}

/// Cuts blocks of bzip2.
pub(crate) struct Runs(Packer);

impl Runs {
    pub(crate) fn new(level: Level) -> Self {
        Runs(Packer::new(level))
    }
}

impl Cut<Packed> for Runs {
    fn push(&mut self, data: &mut &[u8]) -> Result<Option<Packed>, Error> {
        if self.0.is_empty() && !data.is_empty() {
            self.0.begin(Vec::new()).map_err(Error::Memory)?;
        }
        Ok(self.0.pack(data))
    }

    fn rest(&mut self, _: bool) -> Result<Option<Packed>, Error> {
        Ok(self.0.end())
    }
}

/// Passes on each portion that is pushed, up to a size.
pub(crate) struct Portions(pub(crate) usize);

impl Cut<Vec<u8>> for Portions {
    fn push(&mut self, data: &mut &[u8]) -> Result<Option<Vec<u8>>, Error> {
        let (some, rest) = data.split_at(data.len().min(self.0));
        *data = rest;
        Ok((!some.is_empty()).then(|| some.to_vec()))
    }

    fn rest(&mut self, _: bool) -> Result<Option<Vec<u8>>, Error> {
        Ok(None)
    }
}
