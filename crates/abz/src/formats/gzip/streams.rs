//! The streams that compress and decompress gzip.

use std::io::{Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use abz_codec::gzip::{
    DecodeError, Decoder, Encoded, Encoder, Entry, Fault, Guess, Guessed, Guesser, Layout, Member, Next,
    Scanned, Scanner, Stretch, Verifier, Writer,
};
use abz_codec::{Block, Place};
use anabranch::{Pool, Recycled, Recycler, TryStream};

use crate::decompress::Decompression;
use crate::error::Error;
use crate::formats::writes::Compression;
use crate::pipes::inputs::{Input, Inputs, Telling};
use crate::pipes::{self, LentBlock, begin, window};
use crate::positional::ReadAt;
use crate::run_options::{RunOptions, at_work};
use crate::tools::{Lender, Tool};

/// Compresses `input`.
pub(super) fn compress<'a, R: Read + Send + 'a>(
    compression: &'a Compression,
    input: R,
    options: RunOptions<'a>,
) -> TryStream<'a, Encoded, Error> {
    let (workers, lender, advance) = (compression.workers, options.lender(), options.advance());
    let blocks = pipes::blocks(compression, input, lender.buffers(window(workers)));
    begin(blocks, "abz compress", workers, window(workers), options.pool)
        .try_map_with(
            move || Kept::lent(compression, lender),
            move |kept, block: LentBlock| {
                let encoded = kept.encoder.encode(&block).map_err(Error::Memory)?;
                advance.by(block.data.len());
                Ok(encoded)
            },
        )
        .name("encode")
}

/// An encoder, and the settings that it cannot change.
struct Kept {
    settings: (u32, Layout),
    encoder: Encoder,
}

impl Kept {
    fn lent<'a>(compression: &Compression, lender: Lender<'a>) -> Tool<'a, Kept> {
        let settings = (compression.level, compression.layout);
        let make = || Kept { settings, encoder: encoder(compression) };
        let mut kept = lender.tool(|kept: &Kept| kept.settings == settings, make);
        kept.encoder.set_origin(compression.origin.clone());
        kept
    }
}

/// Makes an encoder with the settings of `compression`.
pub(super) fn encoder(compression: &Compression) -> Encoder {
    let encoder = Encoder::new(compression.level).origin(compression.origin.clone());
    encoder.layout(compression.layout)
}

/// Makes a writer of the file that the encoded blocks form.
pub(super) fn writer<W: Write>(compression: &Compression, output: W) -> Writer<W> {
    let writer = Writer::new(output, compression.layout);
    // Blocks that are cut by their contents must not record their positions, or a change would alter all later ones.
    if compression.rsyncable { writer.without_places() } else { writer }
}

/// Compresses `input`. Each worker reads its own blocks.
pub(super) fn compress_at<'a>(
    compression: &'a Compression,
    input: &'a dyn ReadAt,
    pool: Option<&'a Pool>,
) -> TryStream<'a, Encoded, Error> {
    let workers = compression.workers;
    let (size, block_size) = (input.size(), compression.block_len() as u64);
    // An empty input becomes one empty block.
    let blocks = (0..size.div_ceil(block_size).max(1)).map(Ok);
    begin(blocks, "abz compress", workers, window(workers), pool)
        .name("number")
        .try_map_with(
            || (encoder(compression), Block::default()),
            move |(encoder, block), number| {
                let start = number * block_size;
                let len = block_size.min(size - start);
                (block.number, block.whole) = (number, size <= block_size);
                block.data.resize(len as usize, 0);
                input.read_at(&mut block.data, start).map_err(Error::Read)?;
                encoder.encode(block).map_err(Error::Memory)
            },
        )
        .name("read and encode")
}

/// Decompresses the members that `entries` list. Each is read by the worker that decodes it. Gives their contents, and
/// the offset of these among all contents.
pub(super) fn decompress_at<'a>(
    workers: usize,
    input: &'a dyn ReadAt,
    entries: &'a [Entry],
    pool: Option<&'a Pool>,
) -> TryStream<'a, (Recycled<Vec<u8>>, u64), Error> {
    let buffers = Recycler::new(window(workers), Vec::new);
    begin(entries.iter().map(Ok), "abz decompress", workers, window(workers), pool)
        .name("index")
        .try_map_with(
            || (Decoder::new(), Vec::new(), Vec::new()),
            move |(decoder, bytes, home), entry: &Entry| {
                bytes.resize(entry.compressed as usize, 0);
                input.read_at(bytes, entry.offset).map_err(Error::Read)?;
                let mut rest = &bytes[..];
                let mut scanner = Scanner::at(0, entry.offset);
                let found = match scanner.next(&mut rest, home)? {
                    None => scanner.finish(home)?,
                    found => found,
                };
                let Some(Scanned::Member(member)) = found.filter(|_| rest.is_empty()) else {
                    return Err(is_not(entry, bytes.len() - rest.len()));
                };
                if member.uncompressed_len() != entry.uncompressed as usize {
                    return Err(is_not(entry, bytes.len()));
                }
                let mut data = buffers.take();
                decoder.decode_into(&member, &mut data)?;
                *home = member.into_bytes();
                Ok((data, entry.start))
            },
        )
        .name("read and decode")
}

/// The error for an entry that does not match the member in the file.
fn is_not(entry: &Entry, found: usize) -> Error {
    let fault = Fault::MemberSize { expected: entry.compressed.into(), found: found as u64 };
    let place = Place::Member { number: 0, start: entry.offset };
    DecodeError { place, offset: entry.offset, fault }.into()
}

/// Decompresses `input`. All workers decode members that record their size. The stage that finds members decodes any
/// other one, while other workers read, verify and write. `mistaken` receives the number of the first member whose size
/// differs from the one in its header, or 0 if there is none.
pub(super) fn decompress<'a, R: Read + Send + 'a>(
    (how, workers): (&Decompression, usize),
    input: R,
    options: RunOptions<'a>,
    mistaken: &'a AtomicU64,
) -> TryStream<'a, Recycled<Vec<u8>>, Error> {
    let lender = options.lender();
    let (homes, buffers) = (lender.buffers(window(workers)), lender.buffers(window(workers)));
    let mut verifier = Verifier::new();
    let inputs = Inputs::new(Telling::new(input, options.advance()), lender.inputs(window(workers)));
    begin(inputs, "abz decompress", workers, window(workers), options.pool)
        .try_serial_spread(Scanner::new().giving(how.giving), move |scanner, input| {
            let mut data = homes.take();
            let found = match input.is_end() {
                true => scanner.finish(&mut data)?,
                false => input.scan(|bytes| scanner.next(bytes, &mut data))?,
            };
            mistaken.store(scanner.mistaken().unwrap_or(0), Ordering::Relaxed);
            Ok(found.map(|found| match found {
                Scanned::Member(member) => Piece::Member(member, data),
                Scanned::Data(stretch) => Piece::Data(data, stretch),
            }))
        })
        .name("split or inflate")
        .try_map_with(
            move || lender.tool(|_| true, Decoder::new),
            move |decoder, piece| match piece {
                Piece::Member(member, mut home) => {
                    let mut data = buffers.take();
                    decoder.decode_into(&member, &mut data)?;
                    *home = member.into_bytes();
                    Ok((data, None))
                }
                Piece::Data(data, stretch) => Ok((data, Some(stretch))),
                Piece::Guessed(..) => unreachable!("nothing is guessed"),
            },
        )
        .name("decode")
        .try_serial(move |(data, stretch)| {
            if let Some(stretch) = stretch {
                verifier.verify(&stretch, &data)?;
            }
            Ok(data)
        })
        .name("verify")
}

/// The size of the pieces that are decoded speculatively, in bytes of compressed data. The first block of a piece
/// begins within some tens of thousands of bytes; only one worker decodes the data before it, so pieces should be much
/// longer.
const GUESSED: usize = 256 << 10;

/// As [`decompress`], but all workers decode members that do not record their size. Each decodes a piece, with markers
/// for bytes copied from the unknown preceding contents. The pieces are then joined in order, and the markers replaced.
pub(super) fn decompress_guessing<'a, R: Read + Send + 'a>(
    (how, workers): (&Decompression, usize),
    input: R,
    options: RunOptions<'a>,
    mistaken: &'a AtomicU64,
) -> TryStream<'a, Recycled<Vec<u8>>, Error> {
    // A piece decoded with markers takes megabytes.
    let window = at_work(workers) + 1;
    let homes = Recycler::new(window, Vec::new);
    let buffers = Recycler::new(window, Vec::new);
    let mut verifier = Verifier::new();
    let pieces = Recycler::new(window, || vec![0; GUESSED]);
    let inputs = Inputs::new(Telling::new(input, options.advance()), pieces);
    begin(inputs, "abz decompress", workers, window, options.pool)
        .map_with(Guesser::new, |guesser, input: Input| {
            let guess = guesser.guess(input.bytes());
            (input, guess)
        })
        .name("guess")
        .try_serial_spread(
            Scanner::new().giving(how.giving),
            move |scanner, (input, guess): &mut (Input, Option<Guess>)| {
                let mut data = homes.take();
                let place = input.place();
                let found = match input.is_end() {
                    true => scanner.finish(&mut data)?.map(Next::Scanned),
                    false => input.scan(|bytes| scanner.next_with(bytes, (guess, place), &mut data))?,
                };
                mistaken.store(scanner.mistaken().unwrap_or(0), Ordering::Relaxed);
                Ok(found.map(|found| match found {
                    Next::Scanned(Scanned::Member(member)) => Piece::Member(member, data),
                    Next::Scanned(Scanned::Data(stretch)) => Piece::Data(data, stretch),
                    Next::Guessed(stretch, guessed) => Piece::Guessed(guessed, stretch),
                }))
            },
        )
        .name("join or inflate")
        .try_map_with(Decoder::new, move |decoder, piece| match piece {
            Piece::Member(member, mut home) => {
                let mut data = buffers.take();
                decoder.decode_into(&member, &mut data)?;
                *home = member.into_bytes();
                Ok((data, None))
            }
            Piece::Data(data, stretch) => {
                let sum = crc32fast::hash(&data);
                Ok((data, Some((stretch, sum))))
            }
            Piece::Guessed(guessed, stretch) => {
                let mut data = buffers.take();
                let sum = guessed.resolve_into(&mut data);
                Ok((data, Some((stretch, sum))))
            }
        })
        .name("resolve")
        .try_serial(move |(data, stretch)| {
            if let Some((stretch, sum)) = stretch {
                verifier.verify_summed(&stretch, (sum, data.len() as u64))?;
            }
            Ok(data)
        })
        .name("verify")
}

/// A part of the file's contents, as passed on by the stage that finds parts.
enum Piece {
    /// Still compressed. Its bytes go back to the buffer after decoding.
    Member(Member, Recycled<Vec<u8>>),
    /// Decompressed data that is not yet verified.
    Data(Recycled<Vec<u8>>, Stretch),
    /// Decompressed, but with markers for bytes of the preceding contents.
    Guessed(Guessed, Stretch),
}
