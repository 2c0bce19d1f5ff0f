//! The steps that decompress gzip.

use std::sync::atomic::{AtomicU64, Ordering};

use abz_codec::Place;
use abz_codec::gzip::{
    DecodeError, Decoder, Entry, Fault, Guessed, Member, Next, Scanned, Scanner, Stretch, Verifier,
};
use anabranch::{Plan, Pool, Recycled, Recycler, TryStream};

use crate::decompress::Decompression;
use crate::error::Error;
use crate::pipes::decode::{self, Contents, DecodeSteps, Join};
use crate::pipes::inputs::{Input, Inputs, Telling};
use crate::pipes::{Threads, begin, window};
use crate::positional::ReadAt;
use crate::reader::line::{Decode, DecodeLine};
use crate::run::Run;
use crate::run_options::at_work;
use crate::threads;
use crate::tools::{Lender, Tool};

/// Decompresses the members that `entries` list. Each is read by the worker that decodes it. Gives their contents, and
/// the offset of these among all contents.
pub(super) fn decompress_at<'a>(
    workers: usize,
    input: &'a dyn ReadAt,
    entries: &'a [Entry],
    pool: Option<&'a Pool>,
) -> TryStream<'a, (Recycled<Vec<u8>>, u64), Error> {
    let buffers = Recycler::new(window(workers), Vec::new);
    let threads = Threads { workers, window: window(workers), pool };
    begin(entries.iter().map(Ok), "abz decompress", threads)
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

/// The size of the pieces that are decoded speculatively, in bytes of compressed data. The first block of a piece
/// begins within some tens of thousands of bytes; only one worker decodes the data before it, so pieces should be much
/// longer.
const GUESSED: usize = 256 << 10;

/// Decompresses a file, which `tells_parts` if it records where its blocks lie. All workers decode members that record their size. The stage that finds members decodes any other
/// one, while other workers read, verify and write, unless the members are decoded speculatively.
pub(super) fn decompress(run: Run<'_>, tells_parts: bool) -> Result<(), Error> {
    let Run { how, options, input, output, mistaken } = run;
    let members = Members::new(how, tells_parts, options.lender(), Some(mistaken));
    let inputs = Inputs::new(Telling::new(input, options.advance()), members.inputs());
    let threads = members.threads(options.pool);
    decode::run(members, inputs, threads, options, |_, contents| contents.write_to(&mut *output))
}

/// Begins to decode a file whose bytes the caller reads.
pub(super) fn read(
    how: &Decompression,
    tells_parts: bool,
    threads: Option<threads::Threads>,
) -> Box<dyn Decode> {
    let members = Members::new(how, tells_parts, Lender::of_tools(), None);
    let (inputs, window) = (members.inputs(), members.threads(None).window);
    DecodeLine::new(members, inputs, window, threads)
}

/// Returns the plan of [`decompress`].
pub(super) fn plan(how: &Decompression) -> Plan {
    let members = Members::new(how, false, Lender::default(), None);
    let threads = members.threads(None);
    decode::plan(members, threads)
}

/// The steps of a file: members that record their size are found and then decoded. Others are decoded as they are found, or
/// speculatively: then all workers decode pieces, with markers for bytes copied from the unknown preceding contents, and
/// the pieces are joined in order, and the markers replaced.
pub(super) struct Members<'a> {
    scanner: Scanner,
    workers: usize,
    /// Whether members are decoded speculatively.
    guesses: bool,
    lender: Lender,
    homes: Recycler<Vec<u8>>,
    buffers: Recycler<Vec<u8>>,
    /// Receives the number of the first member whose size differs from the one in its header, or 0 if there is none.
    mistaken: Option<&'a AtomicU64>,
}

impl<'a> Members<'a> {
    /// The steps of a file from its start. If it `tells_parts`, it is not decoded speculatively.
    pub(super) fn new(
        how: &Decompression,
        tells_parts: bool,
        lender: Lender,
        mistaken: Option<&'a AtomicU64>,
    ) -> Self {
        let (workers, scanner) = (how.workers_within(), Scanner::new().giving(how.giving));
        let guesses = !tells_parts && how.speculation.is_done(workers);
        let window = Self::most_pieces(workers, guesses);
        let (homes, buffers) = (lender.buffers(window), lender.buffers(window));
        Members { scanner, workers, guesses, lender, homes, buffers, mistaken }
    }

    /// The maximum number of pieces in memory at once.
    fn most_pieces(workers: usize, guesses: bool) -> usize {
        // A piece decoded with markers takes megabytes.
        if guesses { at_work(workers) + 1 } else { window(workers) }
    }

    /// The buffers into which the file is read.
    pub(super) fn inputs(&self) -> Recycler<Vec<u8>> {
        let window = Self::most_pieces(self.workers, self.guesses);
        if self.guesses { Recycler::new(window, || vec![0; GUESSED]) } else { self.lender.inputs(window) }
    }

    pub(super) fn threads<'p>(&self, pool: Option<&'p Pool>) -> Threads<'p> {
        Threads { workers: self.workers, window: Self::most_pieces(self.workers, self.guesses), pool }
    }
}

impl<'a> DecodeSteps for Members<'a> {
    const SPLIT: &'static str = "split or inflate";
    type Piece = Piece;
    type Decoder = MemberDecoder;
    type Decoded = (Recycled<Vec<u8>>, Option<Unverified>);
    type Join = Verifier;

    fn split(&mut self, input: &mut Input) -> Result<Option<Piece>, Error> {
        let Members { scanner, homes, .. } = self;
        let mut data = homes.take();
        let found = match input.is_end() {
            true => scanner.finish(&mut data)?.map(Next::Scanned),
            false if self.guesses => {
                input.scan_with(|bytes, guess| scanner.next_with(bytes, guess, &mut data))?
            }
            false => input.scan(|bytes| scanner.next(bytes, &mut data))?.map(Next::Scanned),
        };
        if let Some(mistaken) = self.mistaken {
            mistaken.store(scanner.mistaken().unwrap_or(0), Ordering::Relaxed);
        }
        Ok(found.map(|found| match found {
            Next::Scanned(Scanned::Member(member)) => Piece::Member(member, data),
            Next::Scanned(Scanned::Data(stretch)) => Piece::Data(data, stretch),
            Next::Guessed(stretch, guessed) => Piece::Guessed(guessed, stretch),
        }))
    }

    fn decoders(&self) -> impl Fn() -> MemberDecoder + Send + Sync + use<'a> {
        let (lender, buffers, sums) = (self.lender.clone(), self.buffers.clone(), self.guesses);
        move || MemberDecoder { decoder: lender.tool(|_| true, Decoder::new), buffers: buffers.clone(), sums }
    }

    fn decode(decoder: &mut MemberDecoder, piece: Piece) -> Result<Self::Decoded, Error> {
        let MemberDecoder { decoder, buffers, sums } = decoder;
        match piece {
            Piece::Member(member, mut home) => {
                let mut data = buffers.take();
                decoder.decode_into(&member, &mut data)?;
                *home = member.into_bytes();
                Ok((data, None))
            }
            Piece::Data(data, stretch) => {
                let sum = sums.then(|| crc32fast::hash(&data));
                Ok((data, Some(Unverified { stretch, sum })))
            }
            Piece::Guessed(guessed, stretch) => {
                let mut data = buffers.take();
                let sum = Some(guessed.resolve_into(&mut data));
                Ok((data, Some(Unverified { stretch, sum })))
            }
        }
    }

    fn join() -> Verifier {
        Verifier::new()
    }

    fn guesses(&self) -> bool {
        self.guesses
    }
}

/// A decoder of members, and the buffers for their contents.
pub(super) struct MemberDecoder {
    decoder: Tool<Decoder>,
    buffers: Recycler<Vec<u8>>,
    /// Whether this step computes checksums. Otherwise the last one does.
    sums: bool,
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
    Guessed(Guessed, Stretch),
}
