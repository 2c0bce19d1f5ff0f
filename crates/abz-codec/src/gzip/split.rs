//! A file into whole members where it says how long they are, into decoded data where it does not.

use std::fmt;
use std::io::Read;
use std::mem;

use super::error::{DecodeError, Fault, Part};
use super::header::MAGIC;
use super::inflate::Inflater;
use super::input::Input;
use super::{EMPTY_DEFLATE, Extent, Header, MAX_BLOCK, TRAILER_LEN, u32_at};

/// How much data of a streamed member is given out at once, in bytes: small enough to stay in a core's cache.
const CHUNK: usize = 256 * 1024;

/// The most bytes of a compressed member that is taken as a whole: deflate makes no block larger by so much.
const MAX_COMPRESSED: u64 = MAX_BLOCK as u64 + (1 << 20);

/// The most contents of a member of BGZF (SAM specification, section 4.1), in bytes.
const MAX_BGZF: usize = 64 * 1024;

/// A whole member, still compressed. [`Decoder::decode`](super::Decoder::decode) makes data of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Counted from 1.
    pub(super) number: u64,
    /// The offset of the first byte in the file.
    pub(super) start: u64,
    /// Where in `bytes` the deflate data begins. After it there are at least the bytes of a trailer.
    pub(super) header_len: usize,
    /// Header, deflate data and trailer, if the header is right about where they end.
    pub(super) bytes: Vec<u8>,
}

impl Member {
    /// The member's number in its file, counted from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The offset of its first byte in the compressed file.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Its bytes: header, deflate data and trailer.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The size of the contents in bytes as the trailer says it (not yet verified), at most
    /// [`MAX_BLOCK`].
    pub fn uncompressed_len(&self) -> usize {
        u32_at(self.trailer(), 4) as usize
    }

    pub(super) fn trailer(&self) -> &[u8] {
        &self.bytes[self.bytes.len() - TRAILER_LEN..]
    }
}

/// The next piece of a file, from a [`Splitter`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A whole member to be decoded, which any thread can do without the others.
    Member(Member),
    /// Data that is decoded already, not empty, because its member did not say how long it is. What is wrong
    /// with its member may be known only after some of its data was given out.
    Data(Vec<u8>),
}

/// Splits a gzip file into [`Piece`]s, in order. It decodes nothing where a header says how long its member is
/// (see the [module](super)), so it is fast enough to feed many decoders; the other members it decodes itself,
/// a chunk at a time.
///
/// It is an iterator that ends after its first error. Padding with zeros after the last member ends a file as its
/// end does; anything else there is [`Fault::TrailingGarbage`], which comes after all the data.
pub struct Splitter<R> {
    input: Input<R>,
    /// The member that was begun last, counted from 1; 0 before the first.
    number: u64,
    /// The offset of its first byte.
    start: u64,
    state: State,
    /// The last member said that another one follows.
    expects_more: bool,
    inflater: Option<Inflater>,
    chunk: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// At the start of the file or the end of a member.
    Between,
    /// In the deflate data of a member that is streamed.
    Streaming,
    /// After the end or an error.
    Ended,
}

impl<R: Read> Splitter<R> {
    /// Splits what `reader` gives. It has a buffer of its own.
    pub fn new(reader: R) -> Self {
        Splitter {
            input: Input::new(reader),
            number: 0,
            start: 0,
            state: State::Between,
            expects_more: false,
            inflater: None,
            chunk: Vec::new(),
        }
    }

    /// The next piece; `None` at the end of the file.
    fn next_piece(&mut self) -> Result<Option<Piece>, DecodeError> {
        loop {
            match self.state {
                State::Ended => return Ok(None),
                State::Streaming => {
                    if let Some(data) = self.next_chunk()? {
                        return Ok(Some(Piece::Data(data)));
                    }
                }
                State::Between => {
                    if self.at_end()? {
                        self.state = State::Ended;
                    } else if let Some(member) = self.next_member()? {
                        return Ok(Some(Piece::Member(member)));
                    }
                }
            }
        }
    }

    /// True if no member follows. Between members only.
    fn at_end(&mut self) -> Result<bool, DecodeError> {
        let next = self.fill(MAGIC.len())?;
        let is_magic = MAGIC.starts_with(&next[..next.len().min(MAGIC.len())]);
        let first = next.first().copied();
        match first {
            None if self.expects_more => Err(self.fault(Fault::MissingMember)),
            None => Ok(self.number > 0),
            // What is wrong with this header is for its parser to tell.
            Some(_) if is_magic || self.number == 0 || self.expects_more => Ok(false),
            Some(first) => {
                let garbage = self.fault(Fault::TrailingGarbage);
                if first != 0 || !self.only_zeros_follow()? {
                    return Err(garbage);
                }
                Ok(true)
            }
        }
    }

    fn only_zeros_follow(&mut self) -> Result<bool, DecodeError> {
        loop {
            let next = self.fill(1)?;
            if next.iter().any(|&byte| byte != 0) {
                return Ok(false);
            }
            if next.is_empty() {
                return Ok(true);
            }
            let len = next.len();
            self.input.consume(len);
        }
    }

    /// Begins a member: gives it if it can be taken as a whole, else sets out to stream it.
    fn next_member(&mut self) -> Result<Option<Member>, DecodeError> {
        self.number += 1;
        self.start = self.input.offset();
        let (header, header_len) = self.header()?;
        let extent = header.extent();
        self.expects_more = extent.is_some_and(|extent| extent.more);

        let Some(len) = self.whole_len(extent)? else {
            self.input.consume(header_len);
            self.inflater.get_or_insert_with(Inflater::new).reset();
            self.state = State::Streaming;
            return Ok(None);
        };
        let least = header_len + EMPTY_DEFLATE.len() + TRAILER_LEN;
        if len < least {
            return Err(self.fault(Fault::MemberSize { expected: len as u64, found: least as u64 }));
        }
        let bytes = self.input.take(len).map_err(|error| self.fault(Fault::Io(error)))?;
        if bytes.len() < len {
            return Err(self.fault(Fault::Truncated { inside: Part::Data }));
        }
        let member = Member { number: self.number, start: self.start, header_len, bytes };
        let trailer = u32_at(member.trailer(), 4);
        match extent.and_then(|extent| extent.uncompressed) {
            Some(header) if header != trailer => {
                let offset = self.input.offset() - 4;
                Err(self.fault_at(offset, Fault::Disagreement { header, trailer }))
            }
            _ => Ok(Some(member)),
        }
    }

    /// The header of the next member and its length. It is buffered and not consumed.
    fn header(&mut self) -> Result<(Header, usize), DecodeError> {
        let mut wanted = 1;
        loop {
            let buffered = self.fill(wanted)?;
            let (len, ended) = (buffered.len(), buffered.len() < wanted);
            match Header::parse(buffered) {
                Ok(Some(parsed)) => return Ok(parsed),
                Ok(None) if ended => {
                    let end = self.input.offset() + len as u64;
                    return Err(self.fault_at(end, Fault::Truncated { inside: Part::Header }));
                }
                Ok(None) => wanted = len + 1,
                Err(error) => return Err(self.fault(Fault::Header(error))),
            }
        }
    }

    /// The size of the member that begins here in compressed bytes, if its header says it and both sizes are such
    /// that it may be held in memory.
    fn whole_len(&mut self, extent: Option<Extent>) -> Result<Option<usize>, DecodeError> {
        let Some(extent) = extent else { return Ok(None) };
        let len = extent.compressed as usize;
        let fits = match extent.uncompressed {
            Some(uncompressed) => {
                u64::from(extent.compressed) <= MAX_COMPRESSED && uncompressed as usize <= MAX_BLOCK
            }
            None => {
                let buffered = self.fill(len)?;
                len < TRAILER_LEN
                    || buffered.len() < len
                    || u32_at(&buffered[..len], len - 4) as usize <= MAX_BGZF
            }
        };
        Ok(fits.then_some(len))
    }

    /// Some data of the member that is being streamed; `None` if it ended without any more. At its end its
    /// trailer is verified before its last data is given out.
    fn next_chunk(&mut self) -> Result<Option<Vec<u8>>, DecodeError> {
        self.chunk.resize(CHUNK, 0);
        let mut filled = 0;
        while filled < CHUNK {
            if self.fill(1)?.is_empty() {
                return Err(self.fault(Fault::Truncated { inside: Part::Data }));
            }
            let inflater = self.inflater.as_mut().expect("it was made where the member began");
            let before = inflater.consumed();
            match inflater.step(self.input.buffered(), &mut self.chunk[filled..]) {
                Ok(step) => {
                    self.input.consume(step.consumed);
                    filled += step.produced;
                    if step.ended {
                        self.trailer()?;
                        self.state = State::Between;
                        break;
                    }
                }
                Err(fault) => {
                    let offset = self.input.offset() + (inflater.consumed() - before);
                    return Err(self.fault_at(offset, fault));
                }
            }
        }
        Ok(match filled {
            0 => None,
            // A long copy costs more than a new buffer.
            _ if filled > CHUNK / 4 => {
                let mut data = mem::take(&mut self.chunk);
                data.truncate(filled);
                Some(data)
            }
            _ => Some(self.chunk[..filled].to_vec()),
        })
    }

    /// Verifies the trailer of the member that was streamed.
    fn trailer(&mut self) -> Result<(), DecodeError> {
        let buffered = self.fill(TRAILER_LEN)?;
        let len = buffered.len();
        let Some(&trailer) = buffered.first_chunk::<TRAILER_LEN>() else {
            let end = self.input.offset() + len as u64;
            return Err(self.fault_at(end, Fault::Truncated { inside: Part::Trailer }));
        };
        let inflater = self.inflater.as_ref().expect("it was made where the member began");
        if let Err((at, fault)) = inflater.check(trailer) {
            return Err(self.fault_at(self.input.offset() + at, fault));
        }
        self.input.consume(TRAILER_LEN);
        Ok(())
    }

    fn fill(&mut self, wanted: usize) -> Result<&[u8], DecodeError> {
        // Not `map_err`: the buffer is borrowed for as long as the result.
        if let Err(error) = self.input.fill(wanted) {
            return Err(self.fault(Fault::Io(error)));
        }
        Ok(self.input.buffered())
    }

    /// A fault of this member, at the place where reading has come to.
    fn fault(&self, fault: Fault) -> DecodeError {
        self.fault_at(self.input.offset(), fault)
    }

    fn fault_at(&self, offset: u64, fault: Fault) -> DecodeError {
        DecodeError { member: self.number.max(1), start: self.start, offset, fault }
    }
}

impl<R: Read> Iterator for Splitter<R> {
    type Item = Result<Piece, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_piece();
        if next.is_err() {
            self.state = State::Ended;
        }
        next.transpose()
    }
}

impl<R> fmt::Debug for Splitter<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Splitter")
            .field("member", &self.number)
            .field("start", &self.start)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}
