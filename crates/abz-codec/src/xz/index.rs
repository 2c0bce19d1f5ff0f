//! The index of a stream (section 4), compared with the blocks of the stream.

use crc32fast::Hasher;
use sha2::{Digest, Sha256};

use super::error::{Fault, Part};
use super::header::take_number;

/// The sizes of any number of blocks in constant memory: their number, their sums and a digest.
#[derive(Clone, Default)]
pub(super) struct Records {
    count: u64,
    uncompressed: u64,
    padded: u64,
    digest: Sha256,
    /// The sizes of each block, if they are kept.
    list: Option<Vec<(u64, u64)>>,
}

impl Records {
    pub(super) fn push(&mut self, unpadded: u64, uncompressed: u64) {
        self.count += 1;
        self.uncompressed = self.uncompressed.saturating_add(uncompressed);
        self.padded = self.padded.saturating_add(unpadded.saturating_add(3) & !3);
        self.digest.update(unpadded.to_le_bytes());
        self.digest.update(uncompressed.to_le_bytes());
        if let Some(list) = &mut self.list {
            list.push((unpadded, uncompressed));
        }
    }

    /// Returns the sizes of each block, if they are kept: without padding, and of the contents.
    pub(super) fn list(&self) -> &[(u64, u64)] {
        self.list.as_deref().unwrap_or_default()
    }

    /// Returns the number of blocks.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Returns the sum of the sizes of the contents in bytes.
    pub(super) fn uncompressed(&self) -> u64 {
        self.uncompressed
    }

    /// Returns the sum of the sizes in the file in bytes.
    pub(super) fn padded(&self) -> u64 {
        self.padded
    }

    /// Returns whether both have the same sizes in the same order.
    fn are(&self, others: &Records) -> bool {
        self.count == others.count && self.digest.clone().finalize() == others.digest.clone().finalize()
    }
}

/// A parser of an index that comes piece by piece.
#[derive(Default)]
pub(super) struct Index {
    checksum: Hasher,
    /// The number of bytes that were read.
    pub(super) len: u64,
    /// The number of records, as soon as it was read.
    count: Option<u64>,
    records: Records,
}

impl Index {
    /// Creates a parser that keeps the sizes of each block.
    pub(super) fn keeping() -> Self {
        Index { records: Records { list: Some(Vec::new()), ..Records::default() }, ..Index::default() }
    }

    /// Parses as much as it can from the front of `bytes`, which begin with bytes of the index. Returns `true` at the
    /// end of the index. The longest item that must be complete has 18 bytes.
    pub(super) fn read(&mut self, bytes: &mut &[u8]) -> Result<bool, Fault> {
        loop {
            let mut rest = *bytes;
            match self.count {
                None if self.len == 0 => {
                    // The index indicator: a byte that is no block's header size.
                    let Some(behind) = rest.get(1..) else { return Ok(false) };
                    rest = behind;
                    let Some(count) = take_number(&mut rest)? else { return Ok(false) };
                    self.count = Some(count);
                }
                Some(count) if self.records.count < count => {
                    let Some(unpadded) = take_number(&mut rest)? else { return Ok(false) };
                    let Some(uncompressed) = take_number(&mut rest)? else { return Ok(false) };
                    self.records.push(unpadded, uncompressed);
                }
                _ => return self.end(bytes),
            }
            let taken = bytes.len() - rest.len();
            self.checksum.update(&bytes[..taken]);
            self.len += taken as u64;
            *bytes = rest;
        }
    }

    /// Parses the padding and the checksum.
    fn end(&mut self, bytes: &mut &[u8]) -> Result<bool, Fault> {
        let padding = (self.len.next_multiple_of(4) - self.len) as usize;
        let Some((padding, rest)) = bytes.split_at_checked(padding) else { return Ok(false) };
        let Some((&expected, rest)) = rest.split_first_chunk() else { return Ok(false) };
        if padding.iter().any(|&byte| byte != 0) {
            return Err(Fault::Rule { expected: "zeros as padding of the index" });
        }
        self.checksum.update(padding);
        let (expected, found) = (u32::from_le_bytes(expected), self.checksum.clone().finalize());
        if expected != found {
            return Err(Fault::Crc { part: Part::Index, expected, found });
        }
        self.len += padding.len() as u64 + 4;
        *bytes = rest;
        Ok(true)
    }

    /// Compares the index with the blocks of the stream.
    pub(super) fn check(&self, blocks: &Records) -> Result<(), Fault> {
        let expected = self.count.unwrap_or(0);
        if expected != blocks.count {
            return Err(Fault::Size { what: "an index", expected: blocks.count, found: expected });
        }
        if !self.records.are(blocks) {
            return Err(Fault::Rule { expected: "the sizes of the blocks in the index" });
        }
        Ok(())
    }

    /// Returns the records of the index.
    pub(super) fn records(&self) -> &Records {
        &self.records
    }
}
