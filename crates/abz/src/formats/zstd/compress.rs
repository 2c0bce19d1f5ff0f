//! The steps that compress zstd.

use std::io::{self, Read};
use std::mem;

use abz_codec::zstd::{self, Checksum, Encoder, Encoding, FrameHeader, FrameWriter, Layout};
use anabranch::{Recycled, Recycler};

use super::level;
use crate::compression::Compression;
use crate::error::Error;
use crate::pipes::cut::{Cut, Cuts, Flushes, LentBlock};
use crate::pipes::encode::{Join, Steps};
use crate::run_options::Equipment;
use crate::tools::{Lender, Tool};

/// Returns the steps of a file. The header of the frame records the size of the contents if it is known beforehand. If there
/// turn out to be more contents, the rest becomes another frame. So do contents that are flushed in short pieces, if the frame
/// has marks.
pub(super) fn steps<'a>(how: Compression, equipment: Equipment<'a>) -> Steps<'a> {
    let Equipment { lender, advance } = equipment;
    let buffers = lender.buffers(how.window());
    let (cuts, sum, stated) = (Cuts::new(&how, buffers.clone()), sum(&how), stated(&how));
    let flushes = (how.zstd.layout == Layout::OneFrame).then(|| Flushes::new(&how));
    let pieces = Pieces { cuts, sum, left: stated, flushes, frame: 0, how: how.clone(), buffers };
    let header = how.zstd.header(level(&how), how.block_len(), stated);
    let header_of_more = FrameHeader { contents: None, ..header };
    let most = how.block_len();
    let frame = FrameWriter::new(Vec::new(), header, most);
    let joined = Joined { frame, number: 0, header_of_more, most, missing: stated, bytes: Vec::new() };
    let homes = lender.buffers(how.window());
    let encode = move |kept: &mut Tool<Kept>, piece: Piece| {
        let Piece { block, checksum, frame } = piece;
        let mut home = homes.take();
        let bytes = mem::take(&mut *home);
        let encoded = kept.encoder.encode_into(&block, bytes).map_err(Error::Memory)?;
        advance.by(block.data.len());
        Ok(Encoded { encoded, home: Some(home), checksum, frame })
    };
    let (flushing, flushing_level) = (how.zstd.clone(), level(&how));
    let make_flushing = move || Encoder::new(flushing_level, &flushing);
    let flush = move |encoder: &mut Encoder, piece: Piece, follows| {
        let Piece { block, checksum, frame } = piece;
        let encoded = encoder.encode_flushed_into(&block, &header, follows, Vec::new());
        advance.by(block.data.len());
        Ok(Encoded { encoded: encoded.map_err(Error::Memory)?, home: None, checksum, frame })
    };
    let make = move || Kept::lent(&how, &lender);
    Steps::new(pieces, make, encode, move || Ok(joined)).flushing(make_flushing, flush)
}

/// The size of the contents that the header of a frame records, if it is known and needed: if the whole input is one block,
/// its size is known once it is read.
fn stated(how: &Compression) -> Option<u64> {
    how.contents.filter(|len| *len > 0 && (how.rsyncable || *len >= how.block_len() as u64))
}

/// A block of a frame.
struct Piece {
    block: LentBlock,
    /// The checksum of the contents of the frame up to the end of this block, if it is needed.
    checksum: u32,
    /// The number of the frame, counted from 0. The size of the first one may be stated.
    frame: u64,
}

/// Cuts blocks, and computes the checksums.
struct Pieces {
    cuts: Cuts,
    sum: Option<Checksum>,
    /// The number of bytes of the frame that were not yet read, if its size is stated.
    left: Option<u64>,
    /// If flushed blocks may be encoded with the contents before them.
    flushes: Option<Flushes>,
    frame: u64,
    how: Compression,
    buffers: Recycler<Vec<u8>>,
}

impl Pieces {
    fn piece(&mut self, block: LentBlock) -> Piece {
        let checksum = match &mut self.sum {
            Some(sum) if !block.whole => sum.add(&block.data),
            _ => 0,
        };
        Piece { block, checksum, frame: self.frame }
    }
}

impl Cut<Piece> for Pieces {
    fn next(&mut self, input: &mut dyn Read) -> Result<Option<Piece>, Error> {
        let block = match self.left {
            None => self.cuts.next(input)?,
            Some(0) => {
                if let Some(block) = self.cuts.rest(true)? {
                    return Ok(Some(self.piece(block)));
                }
                let mut more = Vec::new();
                (&mut *input).take(1).read_to_end(&mut more).map_err(Error::Read)?;
                if more.is_empty() {
                    return Ok(None);
                }
                (self.cuts, self.sum) = (Cuts::new(&self.how, self.buffers.clone()), sum(&self.how));
                (self.left, self.frame) = (None, self.frame + 1);
                self.flushes = self.flushes.map(|_| Flushes::new(&self.how));
                self.cuts.next(&mut more.chain(input))?
            }
            Some(left) => {
                let mut frame = (&mut *input).take(left);
                let block = self.cuts.next(&mut frame)?;
                self.left = Some(frame.limit());
                if block.is_none() && frame.limit() == 0 {
                    return self.next(input);
                }
                block
            }
        };
        if block.is_some() {
            self.flushes.iter_mut().for_each(Flushes::block);
        }
        Ok(block.map(|block| self.piece(block)))
    }

    fn rest(&mut self, is_end: bool) -> Result<Option<Piece>, Error> {
        let block = self.cuts.rest(is_end)?;
        Ok(block.map(|block| self.piece(block)))
    }

    fn flush(&mut self) -> Result<Option<(Piece, bool)>, Error> {
        let Some(block) = self.cuts.rest(false)? else { return Ok(None) };
        let mut keeps = false;
        if let Some(flushes) = &mut self.flushes {
            let has_marks = flushes.has_begun();
            if self.left.is_some() && has_marks {
                // The frame must have the contents that its header states.
                flushes.block();
            } else {
                keeps = flushes.flushed(block.data.len());
            }
            if keeps && has_marks {
                (self.sum, self.frame) = (sum(&self.how), self.frame + 1);
            }
        }
        Ok(Some((self.piece(block), keeps)))
    }
}

/// Returns the checksum of a frame without contents, if the file has checksums over several blocks.
fn sum(how: &Compression) -> Option<Checksum> {
    let sums = how.zstd.checksum && how.zstd.layout == Layout::OneFrame;
    sums.then(Checksum::new)
}

/// An encoder and its settings.
struct Kept {
    level: i32,
    encoding: Encoding,
    encoder: Encoder,
}

impl Kept {
    fn lent(how: &Compression, lender: &Lender) -> Tool<Kept> {
        let level = level(how);
        let fits = |kept: &Kept| kept.level == level && kept.encoding == how.zstd;
        let make = || Kept { level, encoding: how.zstd.clone(), encoder: Encoder::new(level, &how.zstd) };
        lender.tool(fits, make)
    }
}

/// An encoded block, and the buffer that its bytes go back to once they are written.
struct Encoded {
    encoded: zstd::Encoded,
    home: Option<Recycled<Vec<u8>>>,
    checksum: u32,
    frame: u64,
}

/// Joins blocks to frames.
struct Joined {
    /// The frame that has begun.
    frame: FrameWriter<Vec<u8>>,
    /// Its number, the header of the later ones, and the largest contents of their pieces, in bytes.
    number: u64,
    header_of_more: FrameHeader,
    most: usize,
    /// The number of bytes that the first frame lacks, if its size is stated.
    missing: Option<u64>,
    /// The bytes of the frames that have ended.
    bytes: Vec<u8>,
}

impl Join<Encoded> for Joined {
    fn add(&mut self, block: Encoded) -> Result<(), Error> {
        let Encoded { encoded, home, checksum, frame } = block;
        if frame != self.number {
            (self.number, self.missing) = (frame, None);
            let next = FrameWriter::new(Vec::new(), self.header_of_more, self.most);
            let end = mem::replace(&mut self.frame, next).finish().map_err(Error::Write)?;
            self.bytes.extend(end);
        }
        let missing = self.missing.iter_mut();
        missing.for_each(|missing| *missing = missing.saturating_sub(encoded.contents as u64));
        self.frame.write(&encoded, checksum).map_err(Error::Write)?;
        if !self.bytes.is_empty() {
            self.bytes.append(self.frame.get_mut());
        }
        if let Some(mut home) = home {
            *home = encoded.bytes;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<u8>, Error> {
        let missing = self.missing.unwrap_or(0);
        let end = self.frame.finish().map_err(|error| match missing {
            0 => Error::Write(error),
            _ => Error::Read(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                format!("expected {missing} bytes more, as when the file was opened, found its end"),
            )),
        })?;
        self.bytes.extend(end);
        Ok(self.bytes)
    }

    fn bytes(&mut self) -> &mut Vec<u8> {
        if self.bytes.is_empty() { self.frame.get_mut() } else { &mut self.bytes }
    }
}
