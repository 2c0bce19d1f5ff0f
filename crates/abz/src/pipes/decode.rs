//! The steps in which the files of all formats are decoded. A stream runs them, or a reader on its caller's thread.

use std::io::{self, Write};
use std::mem;
use std::ops::Range;

use abz_codec::access::Part;
use abz_codec::bzip2;
use abz_codec::gzip::Guesser;
use anabranch::{Plan, Recycled, TryStream};

use super::inputs::{Input, Inputs};
use super::{Threads, begin, carry_out};
use crate::error::Error;
use crate::run_options::RunOptions;

/// How a file of a format is decoded: its bytes are split into pieces, in order; any thread decodes a piece; and the results
/// are joined, in order.
pub(crate) trait DecodeSteps: Send {
    /// The name of the step that splits.
    const SPLIT: &'static str;
    /// A piece, which is often decoded already.
    type Piece: Send;
    /// The tables that decode pieces. Each thread makes its own.
    type Decoder: Send;
    /// A decoded piece.
    type Decoded: Send;
    /// The step that joins decoded pieces.
    type Join: Join<Self::Decoded>;

    /// Takes the next piece from the front of `input`. Returns `None` if all of `input` was taken.
    fn split(&mut self, input: &mut Input) -> Result<Option<Self::Piece>, Error>;

    /// Returns a function that makes decoders.
    fn decoders(&self) -> impl Fn() -> Self::Decoder + Send + Sync + use<Self>;

    /// Decodes a piece.
    fn decode(decoder: &mut Self::Decoder, piece: Self::Piece) -> Result<Self::Decoded, Error>;

    /// Makes the step that joins.
    fn join() -> Self::Join;

    /// Returns true if threads decode pieces of input before it is split, on a guess ([`Guesser`]).
    fn guesses(&self) -> bool {
        false
    }
}

/// Joins decoded pieces, in order.
pub(crate) trait Join<D>: Send {
    /// Whether [`part`](Self::part) tells the part of all contents.
    const FINDS_PARTS: bool = false;

    /// Returns the contents of a decoded piece, if it has any.
    fn next(&mut self, decoded: D) -> Result<Option<Contents>, Error>;

    /// Returns the contents that are left at the end of the file. Call it until it returns `None`.
    fn finish(&mut self) -> Result<Option<Contents>, Error> {
        Ok(None)
    }

    /// The part of the file that holds the contents that were returned last, if it can be decoded by itself. `contents` is
    /// their place among all contents, in bytes.
    fn part(&self, _contents: Range<u64>) -> Option<Part> {
        None
    }
}

/// Contents of a file.
pub(crate) enum Contents {
    Bytes(Recycled<Vec<u8>>),
    /// A block of bzip2, whose repetitions are not yet expanded.
    Block(bzip2::Contents),
}

impl Contents {
    /// Writes the contents.
    pub(crate) fn write_to(&self, mut output: impl Write) -> Result<(), Error> {
        let written = match self {
            Contents::Bytes(bytes) => output.write_all(bytes),
            Contents::Block(block) => block.write_to(output).map(drop),
        };
        written.map_err(Error::Write)
    }

    /// Replaces the contents of `data` by these. The allocation of `data` is used again.
    pub(crate) fn move_to(self, data: &mut Vec<u8>) {
        match self {
            Contents::Bytes(mut bytes) => mem::swap(data, &mut bytes),
            Contents::Block(block) => {
                data.clear();
                block.write_to(data).expect("a vector takes all bytes");
            }
        }
    }
}

/// Passes contents on that need no joining.
pub(crate) struct InOrder;

impl Join<Recycled<Vec<u8>>> for InOrder {
    fn next(&mut self, data: Recycled<Vec<u8>>) -> Result<Option<Contents>, Error> {
        Ok(Some(Contents::Bytes(data)))
    }
}

/// Runs the first two steps on the inputs of `source`. Calls `note` for each piece that was found (`true`), and for each input
/// of which all was taken (`false`).
pub(crate) fn stream<'a, S: DecodeSteps + 'a>(
    source: TryStream<'a, Input, Error>,
    steps: S,
    note: impl Fn(bool) + Send + 'a,
) -> TryStream<'a, S::Decoded, Error> {
    let decoders = steps.decoders();
    let source = match steps.guesses() {
        true => source.map_with(Guesser::new, |guesser, input: Input| input.guessed(guesser)).name("guess"),
        false => source,
    };
    source
        .try_serial_spread(steps, move |steps, input| {
            let piece = steps.split(input)?;
            note(piece.is_some());
            Ok(piece)
        })
        .name(S::SPLIT)
        .try_map_with(decoders, |decoder, piece| S::decode(decoder, piece))
        .name("decode")
}

/// Decodes a file, and passes its contents to `write`.
pub(crate) fn run<S: DecodeSteps>(
    steps: S,
    inputs: Inputs<'_, impl io::Read + Send>,
    threads: Threads<'_>,
    options: &RunOptions<'_>,
    mut write: impl FnMut(&S::Join, Contents) -> Result<(), Error> + Send,
) -> Result<(), Error> {
    let mut join = S::join();
    let source = begin(inputs, "abz decompress", threads);
    carry_out(stream(source, steps, |_| ()), options, |decoded| match join.next(decoded)? {
        Some(contents) => write(&join, contents),
        None => Ok(()),
    })?;
    while let Some(contents) = join.finish()? {
        write(&join, contents)?;
    }
    Ok(())
}

/// Returns the plan of [`run`].
pub(crate) fn plan<S: DecodeSteps>(steps: S, threads: Threads<'_>) -> Plan {
    let inputs = Inputs::new(io::empty(), super::inputs::buffers(1));
    stream(begin(inputs, "abz decompress", threads), steps, |_| ()).plan()
}
