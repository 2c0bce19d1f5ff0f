//! Scanning of an xz file as its bytes come: into whole blocks if they are small, and into decoded data if they are
//! large or state no size.

use std::fmt;
use std::mem;

use super::alone::{self, LZMA_HEADER_LEN, is_lzma};
use super::check::{Check, Sum};
use super::decode::{Block, Decoder, Filtered, check_end, check_sizes, too_much};
use super::error::{DecodeError, Fault, Part};
use super::header::{BlockHeader, FOOTER_LEN, MAGIC, STREAM_HEADER_LEN, check_footer, parse_stream_header};
use super::index::{Index, Records};
use crate::behind::Beginning;
use crate::damage::Place;
use crate::feed::{self, Feed, States, Step};
use crate::lzma::bound;
use crate::memory::make_room;
use crate::parts::{CHUNK, Giving, Room, Scan, Scanned};

/// The largest contents of a block that is taken as a whole, in bytes, if its dictionary is small, and in any case: the
/// block size of xz at its highest level.
const SMALL: u64 = 8 << 20;
const LARGE: u64 = 192 << 20;

/// The number of bytes of an index that are parsed at once.
const GLANCE: usize = 4096;

/// A scanner, which finds the blocks of an xz file that is pushed to it from its start. Blocks whose headers state
/// their sizes, and whose contents have at most 8 MiB, or three times the size of their dictionary up to 192 MiB, come
/// whole. The scanner decodes other blocks and `.lzma` files itself.
pub struct Scanner {
    room: Room,
    leniency: Leniency,
    state: State,
    /// The number of the current or last stream, counted from 1; 0 before the first.
    stream: u64,
    /// The number of the current or last block in it, counted from 1.
    block: u64,
    check: Check,
    /// Whether the scanner has not seen all blocks of the stream.
    has_skipped: bool,
    /// The sizes of the blocks of the stream.
    records: Records,
    feed: Feed<DecodeError>,
}

enum State {
    /// At the start of the file or the end of a stream, or in padding.
    Between,
    /// In a stream's header.
    Header,
    /// At the first byte of a block or of the index.
    Next,
    /// In a block's header of `len` bytes.
    BlockHeader {
        len: usize,
    },
    /// In a block of `total` bytes that is to be given out whole.
    Whole {
        header: BlockHeader,
        total: usize,
    },
    /// In the compressed data of a block that is streamed.
    Data(Box<Streamed>),
    /// In the padding and the check behind the data of a streamed block.
    BlockEnd(Box<Streamed>),
    Index(Box<Index>),
    Footer {
        index_len: u64,
    },
    /// In a `.lzma` file.
    Alone(Box<Filtered>),
    /// Behind the data of a `.lzma` file.
    AloneEnd,
    /// After an error.
    Ended,
}

/// A block that the scanner decodes itself.
struct Streamed {
    header: BlockHeader,
    filtered: Filtered,
    sum: Sum,
    is_checked: bool,
    uncompressed: u64,
}

/// The parts of a file that are not checked. By default all are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Leniency {
    /// Ignore the bytes behind the first stream.
    pub single_stream: bool,
    /// Ignore the checks of the contents. Damaged contents may go unnoticed then.
    pub ignore_check: bool,
}

impl Scanner {
    /// Creates a scanner at the start of a file.
    pub fn new() -> Self {
        Scanner {
            room: Room::default(),
            leniency: Leniency::default(),
            state: State::Between,
            stream: 0,
            block: 0,
            check: Check::None,
            has_skipped: false,
            records: Records::default(),
            feed: Feed::at(0),
        }
    }

    /// Makes it begin at byte `offset` of the file, behind `blocks` blocks of the stream with the number `stream` (from
    /// 1), whose blocks have this check. The index of that stream is not compared with its blocks.
    pub fn at(mut self, check: Check, stream: u64, blocks: u64, offset: u64) -> Self {
        (self.check, self.stream, self.block, self.feed.offset) = (check, stream, blocks, offset);
        self.state = State::Next;
        self.has_skipped = true;
        self
    }

    /// Limits the memory. A block that does not fit is not taken as a whole; one whose dictionary does not fit is an
    /// error.
    pub fn within(mut self, room: Room) -> Self {
        self.room = room;
        self
    }

    /// Sets how decoded data is given out; see [`Giving`].
    #[must_use]
    pub fn giving(mut self, giving: Giving) -> Self {
        self.feed.giving = giving;
        self
    }

    /// Sets the parts of a file that are not checked.
    pub fn lenient(mut self, leniency: Leniency) -> Self {
        self.leniency = leniency;
        self
    }

    /// Decides what follows a stream, or the format at the start of the file.
    fn between(&mut self, input: &mut &[u8]) -> Result<Step<Scanned<Block>>, DecodeError> {
        self.feed.hold(input, 1);
        let is_over = self.leniency.single_stream && self.stream > 0;
        let wanted = match self.feed.held.first() {
            Some(_) if is_over => return Err(self.fault(Fault::TrailingGarbage)),
            None => 1,
            Some(0) if self.stream > 0 => 4,
            Some(&first) if first == MAGIC[0] || self.stream > 0 => MAGIC.len(),
            _ => LZMA_HEADER_LEN,
        };
        if !self.feed.hold(input, wanted) {
            return Ok(self.starve(State::Between));
        }
        if self.feed.held == MAGIC {
            self.stream += 1;
            self.block = 0;
            self.has_skipped = false;
            self.records = Records::default();
            self.state = State::Header;
        } else if self.stream > 0 && self.feed.held == [0; 4] {
            self.feed.release();
            self.state = State::Between;
        } else if self.stream == 0 && is_lzma(&self.feed.held) {
            let dictionary = alone::dictionary(&self.feed.held);
            if !self.room.has(dictionary.into()) {
                return Err(self.fault(Fault::Memory { dictionary: dictionary.into() }));
            }
            let filtered = Filtered::alone(dictionary).map_err(|fault| self.fault(fault))?;
            self.stream += 1;
            // The header was held only to be checked. The decoder needs it.
            self.feed.replay(0);
            self.state = State::Alone(Box::new(filtered));
        } else {
            return Err(self.no_stream());
        }
        Ok(Step::On)
    }

    /// Returns the error of bytes that begin no stream.
    fn no_stream(&self) -> DecodeError {
        let found = self.feed.held[..self.feed.held.len().min(MAGIC.len())].to_vec();
        self.fault(if self.stream == 0 { Fault::Magic { found } } else { Fault::TrailingGarbage })
    }

    fn header(&mut self, input: &mut &[u8]) -> Result<Step<Scanned<Block>>, DecodeError> {
        self.feed.hold(input, STREAM_HEADER_LEN);
        let Some(header) = self.feed.held.first_chunk() else { return Ok(self.starve(State::Header)) };
        self.check = parse_stream_header(header).map_err(|fault| self.fault(fault))?;
        self.feed.release();
        self.state = State::Next;
        Ok(Step::On)
    }

    fn next_part(&mut self, input: &mut &[u8]) -> Result<Step<Scanned<Block>>, DecodeError> {
        self.feed.hold(input, 1);
        self.state = match self.feed.held.first() {
            None => return Ok(self.starve(State::Next)),
            Some(0) => State::Index(Box::default()),
            Some(&first) => {
                self.block += 1;
                State::BlockHeader { len: BlockHeader::len_of(first) }
            }
        };
        Ok(Step::On)
    }

    fn block_header(&mut self, input: &mut &[u8], len: usize) -> Result<Step<Scanned<Block>>, DecodeError> {
        if !self.feed.hold(input, len) {
            return Ok(self.starve(State::BlockHeader { len }));
        }
        let header = BlockHeader::parse(&self.feed.held).map_err(|fault| self.fault(fault))?;
        if let Some(total) = self.whole_len(&header).map_err(|fault| self.fault(fault))? {
            make_room(&mut self.feed.held, total - len).map_err(|fault| self.fault(fault.into()))?;
            self.state = State::Whole { header, total };
            return Ok(Step::On);
        }
        self.stream(header)
    }

    /// Begins to decode the block whose header, and perhaps more of it, is held.
    fn stream(&mut self, header: BlockHeader) -> Result<Step<Scanned<Block>>, DecodeError> {
        let filtered = Filtered::new(&header).map_err(|fault| self.fault(fault))?;
        self.feed.replay(header.len);
        self.feed.release();
        let sum = Sum::new(self.check);
        let is_checked = !self.leniency.ignore_check;
        self.state = State::Data(Box::new(Streamed { header, filtered, sum, is_checked, uncompressed: 0 }));
        Ok(Step::On)
    }

    /// Returns the size of a block in bytes, if it is to be taken as a whole.
    fn whole_len(&self, header: &BlockHeader) -> Result<Option<usize>, Fault> {
        let dictionary = u64::from(header.dictionary()?);
        if !self.room.has(dictionary) {
            return Err(Fault::Memory { dictionary });
        }
        let limit = (3 * dictionary).clamp(SMALL, LARGE).min(self.room.whole(dictionary));
        let (Some(compressed), Some(uncompressed)) = (header.compressed, header.uncompressed) else {
            return Ok(None);
        };
        if uncompressed > limit || compressed > bound(limit as usize) as u64 {
            return Ok(None);
        }
        Ok(Some(header.len + (compressed as usize).next_multiple_of(4) + self.check.len()))
    }

    fn whole(
        &mut self,
        input: &mut &[u8],
        data: &mut Vec<u8>,
        header: BlockHeader,
        total: usize,
    ) -> Result<Step<Scanned<Block>>, DecodeError> {
        if !self.feed.hold(input, total) {
            return Ok(self.starve(State::Whole { header, total }));
        }
        let unpadded = header.unpadded(self.check).expect("it was looked at");
        self.records.push(unpadded, header.uncompressed.expect("it was looked at"));
        let bytes = self.feed.take_held(data);
        let (stream, number, start, check) = (self.stream, self.block, self.feed.offset, self.check);
        self.feed.offset += total as u64;
        self.state = State::Next;
        let is_checked = !self.leniency.ignore_check;
        Ok(Step::Found(Scanned::Whole(Block { stream, number, start, header, check, is_checked, bytes })))
    }

    /// Decodes until the chunk is full or the compressed data ends.
    fn data(
        &mut self,
        input: &mut &[u8],
        data: &mut Vec<u8>,
        mut streamed: Box<Streamed>,
    ) -> Result<Step<Scanned<Block>>, DecodeError> {
        loop {
            let left = streamed.header.compressed.map(|len| len - streamed.filtered.consumed());
            let usable =
                left.map_or(input.len(), |left| input.len().min(usize::try_from(left).unwrap_or(usize::MAX)));
            if input.is_empty() && left != Some(0) {
                return Ok(self.starve(State::Data(streamed)));
            }
            let (produced, ended) = match self.decode(&mut streamed.filtered, input, usable) {
                Ok(progress) => progress,
                Err(fault) => return Err(self.fault(fault)),
            };
            streamed.sum.add(&self.feed.chunk[self.feed.filled - produced..self.feed.filled]);
            streamed.uncompressed += produced as u64;
            if let Some(said) = streamed.header.uncompressed.filter(|&said| said < streamed.uncompressed) {
                return Err(self.fault(too_much(said)));
            }
            if ended {
                let compressed = streamed.filtered.consumed();
                if let Err(fault) = check_sizes(&streamed.header, compressed, streamed.uncompressed) {
                    return Err(self.fault(fault));
                }
                self.state = State::BlockEnd(streamed);
                return Ok(Step::On);
            }
            if self.feed.filled == CHUNK {
                self.state = State::Data(streamed);
                return Ok(self.feed.found(data));
            }
            if left == Some(0) && produced == 0 {
                return Err(self.fault(Fault::Rule { expected: "the end of the compressed data" }));
            }
        }
    }

    /// Decodes the first `usable` bytes of the input into the chunk. Returns the number of decoded bytes, and whether
    /// the data has ended.
    fn decode(
        &mut self,
        filtered: &mut Filtered,
        input: &mut &[u8],
        usable: usize,
    ) -> Result<(usize, bool), Fault> {
        self.feed.chunk.resize(CHUNK, 0);
        let (read, written) = (filtered.consumed(), filtered.produced());
        let progress = filtered.step(&mut &input[..usable], &mut self.feed.chunk[self.feed.filled..]);
        let consumed = filtered.consumed() - read;
        *input = &input[consumed as usize..];
        self.feed.offset += consumed;
        // The contents before a fault are not known to be wrong, so they are kept.
        self.feed.filled += (filtered.produced() - written) as usize;
        let progress = progress?;
        Ok((progress.produced, progress.ended))
    }

    fn block_end(
        &mut self,
        input: &mut &[u8],
        data: &mut Vec<u8>,
        streamed: Box<Streamed>,
    ) -> Result<Step<Scanned<Block>>, DecodeError> {
        let compressed = streamed.filtered.consumed();
        let padding = (compressed.next_multiple_of(4) - compressed) as usize;
        if !self.feed.hold(input, padding + self.check.len()) {
            return Ok(self.starve(State::BlockEnd(streamed)));
        }
        if let Err((at, fault)) = check_end(&self.feed.held, self.check, streamed.sum, streamed.is_checked) {
            self.feed.offset += at;
            return Err(self.fault(fault));
        }
        let unpadded = (streamed.header.len + self.check.len()) as u64 + compressed;
        self.records.push(unpadded, streamed.uncompressed);
        self.feed.release();
        self.state = State::Next;
        Ok(self.feed.found_rest(data))
    }

    fn index(
        &mut self,
        input: &mut &[u8],
        mut index: Box<Index>,
    ) -> Result<Step<Scanned<Block>>, DecodeError> {
        let (before, had) = (*input, self.feed.held.len());
        self.feed.hold(input, GLANCE);
        let mut rest = &self.feed.held[..];
        let read = index.read(&mut rest);
        let taken = self.feed.held.len() - rest.len();
        self.feed.offset += taken as u64;
        let is_read = read.map_err(|fault| self.fault(fault))?;
        if !is_read {
            self.feed.held.drain(..taken);
            return Ok(if before.is_empty() {
                self.starve(State::Index(index))
            } else {
                self.go_on(State::Index(index))
            });
        }
        // The bytes behind the end came in this step.
        *input = &before[taken - had..];
        self.feed.held.clear();
        if !self.has_skipped {
            index.check(&self.records).map_err(|fault| self.fault(fault))?;
        }
        self.state = State::Footer { index_len: index.len };
        Ok(Step::On)
    }

    fn footer(&mut self, input: &mut &[u8], index_len: u64) -> Result<Step<Scanned<Block>>, DecodeError> {
        self.feed.hold(input, FOOTER_LEN);
        let Some(footer) = self.feed.held.first_chunk() else {
            return Ok(self.starve(State::Footer { index_len }));
        };
        check_footer(footer, self.check, index_len).map_err(|fault| self.fault(fault))?;
        self.feed.release();
        self.state = State::Between;
        Ok(Step::On)
    }

    fn alone(
        &mut self,
        input: &mut &[u8],
        data: &mut Vec<u8>,
        mut filtered: Box<Filtered>,
    ) -> Result<Step<Scanned<Block>>, DecodeError> {
        let mut ended = false;
        while !ended {
            if input.is_empty() {
                return Ok(self.starve(State::Alone(filtered)));
            }
            let usable = input.len();
            match self.decode(&mut filtered, input, usable) {
                Ok(progress) => ended = progress.1,
                Err(fault) => return Err(self.fault(fault)),
            }
            if self.feed.filled == CHUNK && !ended {
                self.state = State::Alone(filtered);
                return Ok(self.feed.found(data));
            }
        }
        self.state = State::AloneEnd;
        Ok(self.feed.found_rest(data))
    }

    fn go_on(&mut self, state: State) -> Step<Scanned<Block>> {
        self.state = state;
        Step::On
    }

    fn starve(&mut self, state: State) -> Step<Scanned<Block>> {
        self.state = state;
        Step::Starved
    }

    /// Returns the error of a fault at the place that the scanner has reached.
    fn fault(&self, fault: Fault) -> DecodeError {
        let place = Place::Block { stream: self.stream.max(1), number: self.block.max(1) };
        DecodeError::new(place, self.feed.offset, fault)
    }
}

impl States for Scanner {
    type Found = Scanned<Block>;
    type Fault = Fault;

    const BEGINNING: Beginning = Beginning {
        magic: &MAGIC,
        len: STREAM_HEADER_LEN,
        may_begin: |start| start.first_chunk().is_some_and(|header| parse_stream_header(header).is_ok()),
    };

    fn feed(&mut self) -> &mut Feed<DecodeError> {
        &mut self.feed
    }

    fn step(&mut self, input: &mut &[u8], data: &mut Vec<u8>) -> Result<Step<Scanned<Block>>, DecodeError> {
        match mem::replace(&mut self.state, State::Ended) {
            State::Between => self.between(input),
            State::Header => self.header(input),
            State::Next => self.next_part(input),
            State::BlockHeader { len } => self.block_header(input, len),
            State::Whole { header, total } => self.whole(input, data, header, total),
            State::Data(streamed) => self.data(input, data, streamed),
            State::BlockEnd(streamed) => self.block_end(input, data, streamed),
            State::Index(index) => self.index(input, index),
            State::Footer { index_len } => self.footer(input, index_len),
            State::Alone(filtered) => self.alone(input, data, filtered),
            State::AloneEnd if !input.is_empty() => Err(self.fault(Fault::TrailingGarbage)),
            State::AloneEnd => Ok(self.starve(State::AloneEnd)),
            State::Ended => {
                *input = &[];
                Ok(Step::Starved)
            }
        }
    }

    fn end(&mut self) {
        self.state = State::Ended;
    }

    fn give_rest(&mut self, data: &mut Vec<u8>) -> Option<Scanned<Block>> {
        self.feed.give_rest(data)
    }

    fn reconsider(&mut self, _: &mut Vec<u8>) -> Result<Step<Scanned<Block>>, DecodeError> {
        match mem::replace(&mut self.state, State::Ended) {
            State::Whole { header, .. } if !self.feed.giving.verified => self.stream(header),
            state => Ok(self.starve(state)),
        }
    }

    fn cut(&mut self) -> Option<DecodeError> {
        let inside = match &self.state {
            State::Between if self.feed.held.is_empty() && self.stream > 0 => return None,
            State::Between if !MAGIC.starts_with(&self.feed.held) => return Some(self.no_stream()),
            State::Between | State::Header => Part::Header,
            State::Next if self.feed.held.is_empty() => Part::Data,
            State::Next | State::BlockHeader { .. } => Part::BlockHeader,
            State::Whole { .. } | State::Data(_) | State::Alone(_) => Part::Data,
            State::BlockEnd(_) => Part::Check,
            State::Index(_) => Part::Index,
            State::Footer { .. } => Part::Footer,
            State::AloneEnd | State::Ended => return None,
        };
        self.feed.release();
        Some(self.fault(Fault::Truncated { inside }))
    }
}

impl Scan for Scanner {
    type Whole = Block;
    type Error = DecodeError;
    type Decoder = Decoder;

    fn next(&mut self, input: &mut &[u8], data: &mut Vec<u8>) -> Result<Option<Scanned<Block>>, DecodeError> {
        feed::next(self, input, data)
    }

    fn finish(&mut self, data: &mut Vec<u8>) -> Result<Option<Scanned<Block>>, DecodeError> {
        feed::finish(self, data)
    }

    fn decoders(&self) -> impl Fn() -> Decoder + Send + Sync + use<> {
        Decoder::new
    }

    fn decode_into(decoder: &mut Decoder, block: &Block, data: &mut Vec<u8>) -> Result<(), DecodeError> {
        decoder.decode_into(block, data)
    }

    fn into_bytes(block: Block) -> Vec<u8> {
        block.bytes
    }
}

impl Default for Scanner {
    fn default() -> Self {
        Scanner::new()
    }
}

impl fmt::Debug for Scanner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scanner")
            .field("stream", &self.stream)
            .field("block", &self.block)
            .finish_non_exhaustive()
    }
}
