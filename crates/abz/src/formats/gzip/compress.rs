//! The steps that compress gzip.

use std::io::Read;

use abz_codec::Block;
use abz_codec::gzip::{Encoded, Encoder, Layout, Writer};

use crate::error::Error;
use crate::formats::writes::Compression;
use crate::pipes::cut::{Cut, Cuts, LentBlock};
use crate::pipes::encode::{EncodeSteps, Join};
use crate::positional::ReadAt;
use crate::run_options::Advance;
use crate::tools::{Lender, Tool};

/// The steps of a file whose contents are read in order.
pub(super) struct Blocks<'a> {
    pub(super) how: Compression,
    pub(super) lender: Lender,
    pub(super) advance: Advance<'a>,
}

/// The tables of one thread.
pub(super) struct BlockEncoder<'a> {
    kept: Tool<Kept>,
    advance: Advance<'a>,
}

impl<'a> EncodeSteps for Blocks<'a> {
    type Block = LentBlock;
    type Encoder = BlockEncoder<'a>;
    type Encoded = Encoded;
    type Cut = Cuts;
    type Join = Writer<Vec<u8>>;

    fn cut(&self) -> Cuts {
        Cuts::new(&self.how, self.lender.buffers(self.how.window()))
    }

    fn encoders(&self) -> impl Fn() -> BlockEncoder<'a> + Send + Sync + use<'a> {
        let (how, lender, advance) = (self.how.clone(), self.lender.clone(), self.advance);
        move || BlockEncoder { kept: Kept::lent(&how, &lender), advance }
    }

    fn encode(encoder: &mut BlockEncoder<'a>, block: LentBlock) -> Result<Encoded, Error> {
        let encoded = encoder.kept.encoder.encode(&block).map_err(Error::Memory)?;
        encoder.advance.by(block.data.len());
        Ok(encoded)
    }

    fn join(&self) -> Result<Self::Join, Error> {
        Ok(writer(&self.how))
    }
}

/// The steps of a file whose blocks are read by the threads that encode them.
pub(super) struct BlocksAt<'a> {
    pub(super) how: Compression,
    pub(super) input: &'a dyn ReadAt,
    pub(super) lender: Lender,
}

impl<'a> EncodeSteps for BlocksAt<'a> {
    /// The number of a block.
    type Block = u64;
    type Encoder = ReadingEncoder<'a>;
    type Encoded = Encoded;
    type Cut = Numbers;
    type Join = Writer<Vec<u8>>;

    fn cut(&self) -> Numbers {
        // An empty input becomes one empty block.
        let count = self.input.size().div_ceil(self.how.block_len() as u64).max(1);
        Numbers { next: 0, count }
    }

    fn encoders(&self) -> impl Fn() -> ReadingEncoder<'a> + Send + Sync + use<'a> {
        let (how, input, lender) = (self.how.clone(), self.input, self.lender.clone());
        let block_len = how.block_len() as u64;
        move || ReadingEncoder { kept: Kept::lent(&how, &lender), input, block_len, block: Block::default() }
    }

    fn encode(encoder: &mut ReadingEncoder<'a>, number: u64) -> Result<Encoded, Error> {
        let ReadingEncoder { kept, input, block_len, block } = encoder;
        let (size, start) = (input.size(), number * *block_len);
        let len = (*block_len).min(size - start);
        (block.number, block.whole) = (number, size <= *block_len);
        block.data.resize(len as usize, 0);
        input.read_at(&mut block.data, start).map_err(Error::Read)?;
        kept.encoder.encode(block).map_err(Error::Memory)
    }

    fn join(&self) -> Result<Self::Join, Error> {
        Ok(writer(&self.how))
    }
}

/// The numbers of the blocks of an input of known size.
pub(super) struct Numbers {
    next: u64,
    count: u64,
}

impl Cut<u64> for Numbers {
    fn next(&mut self, _: &mut dyn Read) -> Result<Option<u64>, Error> {
        Ok(None)
    }

    fn rest(&mut self, _: bool) -> Result<Option<u64>, Error> {
        let number = self.next;
        self.next += 1;
        Ok((number < self.count).then_some(number))
    }
}

/// The tables of one thread, and the block that it has read.
pub(super) struct ReadingEncoder<'a> {
    kept: Tool<Kept>,
    input: &'a dyn ReadAt,
    /// The size of a block in bytes.
    block_len: u64,
    block: Block,
}

/// An encoder, and the settings that it cannot change.
struct Kept {
    settings: (u32, Layout),
    encoder: Encoder,
}

impl Kept {
    fn lent(how: &Compression, lender: &Lender) -> Tool<Kept> {
        let settings = (how.level, how.layout);
        let make = || Kept { settings, encoder: Encoder::new(how.level).layout(how.layout) };
        let mut kept = lender.tool(|kept: &Kept| kept.settings == settings, make);
        kept.encoder.set_origin(how.origin.clone());
        kept
    }
}

/// Makes the writer of a file.
fn writer(how: &Compression) -> Writer<Vec<u8>> {
    let writer = Writer::new(Vec::new(), how.layout);
    // Blocks that are cut by their contents must not record their positions, or a change would alter all later ones.
    if how.rsyncable { writer.without_places() } else { writer }
}

impl Join<Encoded> for Writer<Vec<u8>> {
    fn add(&mut self, block: Encoded) -> Result<(), Error> {
        self.write(&block).map_err(Error::Write)
    }

    fn finish(self) -> Result<Vec<u8>, Error> {
        self.finish().map_err(Error::Write)
    }

    fn bytes(&mut self) -> &mut Vec<u8> {
        self.get_mut()
    }
}
