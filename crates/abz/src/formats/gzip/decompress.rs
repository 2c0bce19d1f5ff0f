//! The steps that decompress gzip.

use std::ops::{Deref, DerefMut, Range};
use std::sync::atomic::{AtomicU64, Ordering};

use abz_codec::Place;
use abz_codec::gzip::{
    DecodeError, Decoder, Entry, Fault, Guess, Guessed, Member, Next, SYMBOLS, Scanned, Scanner, Stretch,
    Verifier,
};
use anabranch::{Pool, Recycled, Recycler};

use crate::decompression::Decompression;
use crate::error::Error;
use crate::pipes::access::{Placed, each_part};
use crate::pipes::decode::{Contents, Join, Sizes, Steps};
use crate::pipes::inputs::Input;
use crate::pipes::{Pipe, Threads, window};
use crate::positional::{ReadAt, WriteAt};
use crate::run_options::{Equipment, at_work};
use crate::speculation::Expected;
use crate::tools::Tool;

impl Placed for Entry {
    fn place(&self) -> Range<u64> {
        self.offset..self.offset.saturating_add(self.compressed.into())
    }
}

/// Decompresses the members that `entries` list. Each is read, decoded and written by one thread.
pub(super) fn decompress_at<'a>(
    workers: usize,
    (input, output): (&'a dyn ReadAt, &'a dyn WriteAt),
    entries: &'a [Entry],
    pool: Option<&'a Pool>,
) -> Pipe<'a, ()> {
    type Tables = (Decoder, Vec<u8>, Vec<u8>);
    let decode = move |(decoder, home, data): &mut Tables, entry: &Entry, bytes: &[u8]| {
        let mut rest = bytes;
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
        decoder.decode_into(&member, data)?;
        *home = member.into_bytes();
        output.write_at(data, entry.start).map_err(Error::Write)
    };
    let names = ("abz decompress", "read, decode and write");
    let threads = Threads { workers, window: window(workers), pool };
    each_part(names, threads, (input, entries), || (Decoder::new(), Vec::new(), Vec::new()), decode)
}

/// The error for an entry that does not match the member in the file.
fn is_not(entry: &Entry, found: usize) -> Error {
    let fault = Fault::MemberSize { expected: entry.compressed.into(), found: found as u64 };
    let place = Place::Member { number: 0, start: entry.offset };
    DecodeError::new(place, entry.offset, fault).into()
}

/// The size of the pieces that are decoded speculatively, in bytes of compressed data. The first block of a piece
/// begins within some tens of thousands of bytes; only one worker decodes the data before it, so pieces should be much
/// longer.
const GUESSED: usize = 256 << 10;

/// Returns the steps of a file, which `tells_parts` if it records where its blocks lie. Members that record their size are found
/// and then decoded. Others are decoded as they are found, while other threads read, verify and write, or speculatively: then
/// all threads decode pieces, with markers for bytes copied from the unknown preceding contents, and the pieces are joined in
/// order, and the markers replaced. A file that records where its blocks lie is not decoded speculatively. `mistaken` receives
/// the number of the first member whose size differs from the one in its header, or 0 if there is none.
pub(super) fn steps<'a>(
    how: &Decompression,
    tells_parts: bool,
    equipment: Equipment<'a>,
    mistaken: Option<&'a AtomicU64>,
) -> Steps<'a> {
    let (workers, lender) = (how.workers_within(), equipment.lender);
    let guesses = !tells_parts && Expected::with(workers).guesses(how.speculation);
    // A piece decoded with markers takes megabytes.
    let window = if guesses { at_work(workers) + 1 } else { window(workers) };
    let inputs = match guesses {
        true => Recycler::new(window, || vec![0; GUESSED]),
        false => lender.inputs(window),
    };
    let (homes, buffers) = (lender.buffers(window), lender.buffers(window));
    let mut scanner = Scanner::new().giving(how.giving);
    let split = move |input: &mut Input| {
        let mut data = homes.take();
        let found = match input.is_end() {
            true => scanner.finish(&mut data)?.map(Next::Scanned),
            false if guesses => {
                input.scan_with(|bytes, guess| scanner.next_with::<Symbols>(bytes, guess, &mut data))?
            }
            false => input.scan(|bytes| scanner.next(bytes, &mut data))?.map(Next::Scanned),
        };
        if let Some(mistaken) = mistaken {
            mistaken.store(scanner.mistaken().unwrap_or(0), Ordering::Relaxed);
        }
        Ok(found.map(|found| match found {
            Next::Scanned(Scanned::Member(member)) => Piece::Member(member, data),
            Next::Scanned(Scanned::Data(stretch)) => Piece::Data(data, stretch),
            Next::Guessed(stretch, guessed) => Piece::Guessed(guessed, stretch),
        }))
    };
    let make = move || lender.tool(|_| true, Decoder::new);
    let decode = move |decoder: &mut Tool<Decoder>, piece: Piece| match piece {
        Piece::Member(member, mut home) => {
            let mut data = buffers.take();
            decoder.decode_into(&member, &mut data)?;
            *home = member.into_bytes();
            Ok((data, None))
        }
        Piece::Data(data, stretch) => {
            // If members are decoded as they are found, the last step computes checksums.
            let sum = guesses.then(|| crc32fast::hash(&data));
            Ok((data, Some(Unverified { stretch, sum })))
        }
        Piece::Guessed(guessed, stretch) => {
            let mut data = buffers.take();
            let sum = Some(guessed.resolve_into(&mut data));
            Ok((data, Some(Unverified { stretch, sum })))
        }
    };
    let sizes = Sizes { inputs, workers, window };
    let steps = Steps::new(("split or inflate", split), make, decode, Verifier::new(), sizes);
    if !guesses {
        return steps;
    }
    let symbols = Recycler::new(window, || vec![0; SYMBOLS]);
    steps.guessing(move || symbols.clone(), |symbols, bytes| Guess::of(bytes, Symbols(symbols.take())))
}

/// The symbols of a guess, in a buffer that is used again.
pub(super) struct Symbols(Recycled<Vec<u16>>);

impl Deref for Symbols {
    type Target = [u16];

    fn deref(&self) -> &[u16] {
        &self.0
    }
}

impl DerefMut for Symbols {
    fn deref_mut(&mut self) -> &mut [u16] {
        &mut self.0
    }
}

/// Data of a member that was decoded as it was found, and its CRC-32 if that is known.
pub(super) struct Unverified {
    stretch: Stretch,
    sum: Option<u32>,
}

impl Join<(Recycled<Vec<u8>>, Option<Unverified>)> for Verifier {
    fn next(
        &mut self,
        (data, unverified): (Recycled<Vec<u8>>, Option<Unverified>),
    ) -> Result<Option<Contents>, Error> {
        match unverified {
            Some(Unverified { stretch, sum: Some(sum) }) => {
                self.verify_summed(&stretch, (sum, data.len() as u64))?
            }
            Some(Unverified { stretch, sum: None }) => self.verify(&stretch, &data)?,
            None => {}
        }
        Ok(Some(Contents::Bytes(data)))
    }
}

/// A part of the file's contents, as passed on by the stage that finds parts.
pub(super) enum Piece {
    /// Still compressed. Its bytes go back to the buffer after decoding.
    Member(Member, Recycled<Vec<u8>>),
    /// Decompressed data that is not yet verified.
    Data(Recycled<Vec<u8>>, Stretch),
    /// Decompressed, but with markers for bytes of the preceding contents.
    Guessed(Guessed<Symbols>, Stretch),
}
