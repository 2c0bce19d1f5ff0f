//! zstd: blocks in and frames out, and back.

use std::io::Read;
use std::iter;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use abz_codec::zstd::{Decoder, Decoding, Encoder, Frame, Scanned, Scanner};
use anabranch::{Apply, May, Pool, Recycled, Recycler, Stream};

use super::inputs::{Input, Inputs};
use super::{begin, window};
use crate::{Compression, Decompression, Error};

/// The most contents of frames that are in memory at once, in bytes: with more than 16 workers the largest frames that are
/// decoded as a whole are smaller.
const MEMORY: usize = 1 << 30;

/// A frame, and the size of its contents in bytes.
pub(crate) type Encoded = (Recycled<Vec<u8>>, usize);

/// The level of a compression.
pub(crate) fn level(compression: &Compression) -> i32 {
    i32::try_from(compression.level).expect("the levels of zstd are 1 to 22")
}

/// Compresses what `input` gives.
pub(crate) fn compress<'a, R: Read + Send + 'a>(
    compression: &'a Compression,
    input: R,
    pool: Option<&'a Pool>,
) -> Stream<'a, impl Apply<Error, Out = Encoded> + Send + use<'a, R>, May<Error>> {
    let workers = compression.workers;
    let mut blocks = compression.blocks(input);
    let buffers = Recycler::new(window(workers), Vec::new);
    let frames = Recycler::new(window(workers), Vec::new);
    let blocks = iter::from_fn(move || {
        let mut buffer = buffers.take();
        let block = blocks.read_into(mem::take(&mut *buffer)).map_err(Error::Read).transpose()?;
        Some(block.map(|block| {
            *buffer = block.data;
            buffer
        }))
    });
    begin(blocks, "abz compress", workers, window(workers), pool)
        .map_with(
            move || Encoder::new(level(compression), &compression.zstd),
            move |encoder, block: Recycled<Vec<u8>>| {
                let mut frame = frames.take();
                encoder.encode_into(&block, &mut frame);
                (frame, block.len())
            },
        )
        .name("encode")
}

/// Decompresses what `input` gives. Frames of a bounded size are decoded by all workers; others in the stage that finds
/// them, while other workers read and write.
pub(crate) fn decompress<'a, R: Read + Send + 'a>(
    decompression: &'a Decompression,
    input: R,
    pool: Option<&'a Pool>,
) -> Stream<'a, impl Apply<Error, Out = Recycled<Vec<u8>>> + Send + use<'a, R>, May<Error>> {
    decompress_from(decompression, 0, 0, input, pool)
}

/// As [`decompress`], of a file that `input` gives from the byte `offset` on, where so many frames have ended.
pub(crate) fn decompress_from<'a, R: Read + Send + 'a>(
    decompression: &'a Decompression,
    frames: u64,
    offset: u64,
    input: R,
    pool: Option<&'a Pool>,
) -> Stream<'a, impl Apply<Error, Out = Recycled<Vec<u8>>> + Send + use<'a, R>, May<Error>> {
    let Decompression { workers, zstd: decoding, .. } = decompression;
    let max_whole = decoding.max_whole.min(MEMORY / window(*workers));
    let bounded = Decoding { max_whole, ..decoding.clone() };
    let scan = Scan {
        scanner: Arc::new(Mutex::new(Scanner::at(&bounded, frames, offset))),
        buffers: Recycler::new(window(*workers), Vec::new),
    };
    let buffers = Recycler::new(window(*workers), Vec::new);
    begin(Inputs::new(input, window(*workers)), "abz decompress", *workers, window(*workers), pool)
        .try_serial_flat_map(move |input| Pieces { scan: scan.clone(), input, scanned: 0 })
        .name("split or decode")
        .try_map_with(
            || Decoder::new(decoding),
            move |decoder, piece| match piece {
                Piece::Frame(frame, mut home) => {
                    let mut data = buffers.take();
                    decoder.decode_into(&frame, &mut data)?;
                    *home = frame.into_bytes();
                    Ok(data)
                }
                Piece::Data(data) => Ok(data),
            },
        )
        .name("decode")
}

/// A part of the file's contents.
enum Piece {
    /// Still compressed. Its bytes shall go to where the buffer came from.
    Frame(Frame, Recycled<Vec<u8>>),
    /// Decompressed.
    Data(Recycled<Vec<u8>>),
}

/// Cuts what is read into pieces.
#[derive(Clone)]
struct Scan {
    /// Shared by the pieces of one input after another; nobody ever waits for it.
    scanner: Arc<Mutex<Scanner>>,
    /// For the pieces.
    buffers: Recycler<Vec<u8>>,
}

/// The pieces that an input completes.
struct Pieces {
    scan: Scan,
    input: Input,
    scanned: usize,
}

impl Iterator for Pieces {
    type Item = Result<Piece, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut scanner = self.scan.scanner.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = self.input.bytes();
        if bytes.is_empty() {
            return scanner.finish().err().map(|error| Err(error.into()));
        }
        let mut rest = &bytes[self.scanned..];
        let mut data = self.scan.buffers.take();
        let found = scanner.next(&mut rest, &mut data);
        self.scanned = bytes.len() - rest.len();
        match found {
            Ok(None) => None,
            Ok(Some(Scanned::Frame(frame))) => Some(Ok(Piece::Frame(frame, data))),
            Ok(Some(Scanned::Data)) => Some(Ok(Piece::Data(data))),
            Err(error) => Some(Err(error.into())),
        }
    }
}
