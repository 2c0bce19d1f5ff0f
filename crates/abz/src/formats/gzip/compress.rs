//! The steps that compress gzip.

use std::io::Read;

use abz_codec::Block;
use abz_codec::gzip::{Encoded, Encoder, Layout, Writer};

use crate::compression::Compression;
use crate::error::Error;
use crate::pipes::cut::{Cut, Cuts, LentBlock};
use crate::pipes::encode::{Join, Steps};
use crate::positional::ReadAt;
use crate::run_options::Equipment;
use crate::tools::{Lender, Tool};

/// Returns the steps of a file whose contents are read in order.
pub(super) fn steps<'a>(how: Compression, equipment: Equipment<'a>) -> Steps<'a> {
    let Equipment { lender, advance } = equipment;
    let (mut cut, writer) = (Cuts::new(&how, lender.buffers(how.window())), writer(&how));
    if !matches!(how.layout, Layout::Members | Layout::Bgzf) {
        cut = cut.flushing(&how);
    }
    let flushing = how.clone();
    let make_flushing =
        move || Encoder::new(flushing.level).layout(flushing.layout).origin(flushing.origin.clone());
    let flush = move |encoder: &mut Encoder, block: LentBlock, follows| {
        let encoded = encoder.encode_flushed(&block, follows).map_err(Error::Memory)?;
        advance.by(block.data.len());
        Ok(encoded)
    };
    let encode = move |kept: &mut Tool<Kept>, block: LentBlock| {
        let encoded = kept.encoder.encode(&block).map_err(Error::Memory)?;
        advance.by(block.data.len());
        Ok(encoded)
    };
    let make = move || Kept::lent(&how, &lender);
    Steps::new(cut, make, encode, move || Ok(writer)).flushing(make_flushing, flush)
}

/// Returns the steps of a file whose blocks are read by the threads that encode them.
pub(super) fn steps_at<'a>(how: Compression, lender: Lender, input: &'a dyn ReadAt) -> Steps<'a> {
    let (size, block_len, writer) = (input.size(), how.block_len() as u64, writer(&how));
    // An empty input becomes one empty block.
    let numbers = Numbers { next: 0, count: size.div_ceil(block_len).max(1) };
    let encode = move |(kept, block): &mut (Tool<Kept>, Block), number: u64| {
        let start = number * block_len;
        let len = block_len.min(size - start);
        (block.number, block.whole) = (number, size <= block_len);
        block.data.resize(len as usize, 0);
        input.read_at(&mut block.data, start).map_err(Error::Read)?;
        kept.encoder.encode(block).map_err(Error::Memory)
    };
    let make = move || (Kept::lent(&how, &lender), Block::default());
    Steps::new(numbers, make, encode, move || Ok(writer))
}

/// The numbers of the blocks of an input of known size.
struct Numbers {
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

    fn finish(self: Box<Self>) -> Result<Vec<u8>, Error> {
        Writer::finish(*self).map_err(Error::Write)
    }

    fn bytes(&mut self) -> &mut Vec<u8> {
        self.get_mut()
    }
}
