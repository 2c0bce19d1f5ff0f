//! The steps in which the files of all formats are encoded. A stream runs them, or a writer whose caller's thread cuts and
//! joins.

use std::io::{self, Read, Write};
use std::iter;
use std::mem;

use anabranch::{Plan, Recycled, Recycler, TryStream};

use super::cut::{Cut, Portions};
use super::{Threads, begin, carry_out, carry_out_at};
use crate::count::Counted;
use crate::error::Error;
use crate::formats::writes::Compressed;
use crate::positional::{Reading, Writing};
use crate::run_options::RunOptions;

/// How a file of a format is encoded: its contents are cut into blocks, in order; any thread encodes a block; and the
/// results are joined, in order.
pub(crate) trait EncodeSteps {
    /// A block of the contents.
    type Block: Send;
    /// The tables that encode blocks. Each thread makes its own.
    type Encoder;
    /// An encoded block.
    type Encoded: Send;
    /// The step that cuts.
    type Cut: Cut<Self::Block>;
    /// The step that joins encoded blocks.
    type Join: Join<Self::Encoded>;

    /// Makes the step that cuts.
    fn cut(&self) -> Self::Cut;

    /// Returns a function that makes encoders.
    fn encoders(&self) -> impl Fn() -> Self::Encoder + Send + Sync + use<Self>;

    /// Encodes a block.
    fn encode(encoder: &mut Self::Encoder, block: Self::Block) -> Result<Self::Encoded, Error>;

    /// Makes the step that joins.
    fn join(&self) -> Result<Self::Join, Error>;

    /// Adds the step that encodes to a stream of blocks.
    fn encoded<'a>(&self, blocks: TryStream<'a, Self::Block, Error>) -> TryStream<'a, Self::Encoded, Error>
    where
        Self: 'a,
    {
        blocks.try_map_with(self.encoders(), |encoder, block| Self::encode(encoder, block)).name("encode")
    }
}

/// Joins encoded blocks to a file in memory, in order.
pub(crate) trait Join<E>: Send + Sized {
    /// Adds a block to the file.
    fn add(&mut self, encoded: E) -> Result<(), Error>;

    /// Makes the file readable so far, behind its last block. More blocks may follow.
    fn flush(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Ends the file, and returns the bytes that were not yet taken.
    fn finish(self) -> Result<Vec<u8>, Error>;

    /// The bytes of the file that are complete, for the caller to take.
    fn bytes(&mut self) -> &mut Vec<u8>;
}

/// The steps of a file that one thread encodes as its contents come: the step that joins encodes portions of them. `F`
/// makes it.
pub(crate) struct Portioned<F> {
    /// The maximum size of a portion in bytes.
    pub(crate) most: usize,
    pub(crate) buffers: Recycler<Vec<u8>>,
    pub(crate) join: F,
}

impl<F, J> EncodeSteps for Portioned<F>
where
    F: Fn() -> Result<J, Error>,
    J: Join<Recycled<Vec<u8>>>,
{
    type Block = Recycled<Vec<u8>>;
    type Encoder = ();
    type Encoded = Recycled<Vec<u8>>;
    type Cut = Portions;
    type Join = J;

    fn cut(&self) -> Portions {
        Portions::new(self.most, self.buffers.clone())
    }

    fn encoders(&self) -> impl Fn() + Send + Sync + use<F, J> {
        || ()
    }

    fn encode(_: &mut (), portion: Self::Block) -> Result<Self::Encoded, Error> {
        Ok(portion)
    }

    fn join(&self) -> Result<J, Error> {
        (self.join)()
    }

    fn encoded<'a>(&self, portions: TryStream<'a, Self::Block, Error>) -> TryStream<'a, Self::Encoded, Error>
    where
        Self: 'a,
    {
        portions.name_end("encode and write")
    }
}

/// Returns a stream of the encoded blocks of `input`.
fn stream<'a, S: EncodeSteps + 'a>(
    steps: &S,
    mut input: impl Read + Send + 'a,
    threads: Threads<'a>,
) -> TryStream<'a, S::Encoded, Error>
where
    S::Cut: 'a,
{
    let (mut cut, mut is_read) = (steps.cut(), false);
    let mut next = move || {
        if !is_read && let Some(block) = cut.next(&mut input)? {
            return Ok(Some(block));
        }
        is_read = true;
        cut.rest(true)
    };
    let blocks = iter::from_fn(move || next().transpose());
    steps.encoded(begin(blocks, "abz compress", threads))
}

/// Encodes all of `input`, and writes the file to `output`.
pub(crate) fn run<S: EncodeSteps>(
    steps: S,
    threads: Threads<'_>,
    options: &RunOptions<'_>,
    input: Reading<'_>,
    output: Writing<'_>,
) -> Result<Compressed, Error> {
    let mut input = input.in_order();
    let mut input = Counted::new(&mut *input);
    let mut join = steps.join()?;
    let written = match output {
        Writing::Stream(output) => {
            let mut output = Counted::new(output);
            let mut put = |bytes: &mut Vec<u8>| {
                let written = output.write_all(bytes).map_err(Error::Write);
                bytes.clear();
                written
            };
            carry_out(stream(&steps, &mut input, threads), options, |encoded| {
                join.add(encoded)?;
                put(join.bytes())
            })?;
            put(&mut join.finish()?)?;
            output.flush().map_err(Error::Write)?;
            output.bytes
        }
        Writing::Positional(sink) => {
            let mut end = 0;
            carry_out_at(stream(&steps, &mut input, threads), options, sink, &mut end, |encoded| {
                join.add(encoded)?;
                Ok(mem::take(join.bytes()))
            })?;
            let rest = join.finish()?;
            sink.write_at(&rest, end).map_err(Error::Write)?;
            end + rest.len() as u64
        }
    };
    Ok(Compressed { read: input.bytes, written })
}

/// Returns the plan of [`run`].
pub(crate) fn plan<S: EncodeSteps>(steps: S, threads: Threads<'_>) -> Plan {
    stream(&steps, io::empty(), threads).plan()
}
