//! Scanning of an lzip file as its bytes come: into whole members if they are small, and into decoded data if not.

use std::fmt;
use std::mem;

use crc32fast::Hasher;
use memchr::memmem::Finder;

use super::decode::{Decoder, Lzma, Member};
use super::error::{DecodeError, Fault, Part};
use super::header::{Kind, MAGIC, Trailer, dictionary};
use super::{EMPTY_LEN, HEADER_LEN, TRAILER_LEN};
use crate::behind::Beginning;
use crate::damage::Place;
use crate::feed::{self, Feed, States, Step};
use crate::lzma::bound;
use crate::memory::make_room;
use crate::parts::{CHUNK, Giving, Room, Scan, Scanned};

/// The largest contents of a member that is taken as a whole, in bytes, if its dictionary is small, and in any case.
const SMALL: u64 = 8 << 20;
const LARGE: u64 = 64 << 20;

/// The files that are rejected or accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strictness {
    /// Accept bytes behind the last member that look like a damaged header (`--loose-trailing` of lzip). Otherwise two
    /// or three of the four magic bytes are taken for a damaged header.
    pub loose_trailing: bool,
    /// Report zeros behind the last member as [`Fault::TrailingGarbage`]. Otherwise they are padding.
    pub padding: bool,
    /// Report a member without contents as [`Fault::Empty`] (`--empty-error` of later versions).
    pub empty: bool,
    /// Report a first byte of LZMA data that is not zero as [`Fault::Marking`] (`--marking-error` of later versions).
    pub marking: bool,
    /// Report a member of version 0 (2008) as [`Fault::Version`], as lzip does. Otherwise it is decoded.
    pub current: bool,
    /// Accept a first sync flush marker anywhere in a member that is too large to be held, and decode such members with
    /// the slower decoder for that. Otherwise a first marker behind the held bytes is [`Fault::LateFlush`].
    pub late_flushes: bool,
}

/// A scanner, which finds the members of an lzip file that is pushed to it from its start. Members whose contents have
/// at most 8 MiB, or twice the size of their dictionary up to 64 MiB, come whole. The scanner decodes larger ones
/// itself.
pub struct Scanner {
    strictness: Strictness,
    room: Room,
    state: State,
    /// The number of the current or last member, counted from 1; 0 before the first.
    number: u64,
    /// The offset of its first byte in the file.
    start: u64,
    /// The size of its dictionary in bytes.
    dictionary: u32,
    /// If the last member had version 0, the size that it would have as a member of version 1.
    usual_size: Option<u64>,
    feed: Feed<DecodeError>,
    zeros: Finder<'static>,
}

enum State {
    /// At the start of the file or the end of a member.
    Between,
    /// In zeros after the last member, the first of them at `from`.
    Padding { from: u64 },
    /// In a member that is held. It does not end in its first `searched` bytes.
    Member { searched: usize },
    /// In the LZMA data of a member that is streamed.
    Data(Box<Streamed>),
    /// In its trailer.
    Trailer(Box<Streamed>),
    /// After an error.
    Ended,
}

/// A member that the scanner decodes itself.
struct Streamed {
    kind: Kind,
    lzma: Lzma,
    /// The size of the contents that an earlier attempt has decoded, in bytes.
    known: u64,
    /// The number of bytes of the member that are held. It does not end in them: if it seems to, it is decoded again.
    held: u64,
    checksum: Hasher,
    data_size: u64,
}

impl Scanner {
    /// Creates a scanner at the start of a file.
    pub fn new(strictness: Strictness) -> Self {
        Scanner {
            strictness,
            room: Room::default(),
            state: State::Between,
            number: 0,
            start: 0,
            dictionary: 0,
            usual_size: None,
            feed: Feed::at(0),
            zeros: Finder::new(&[0; 4]),
        }
    }

    /// Creates a scanner that gives out no member as a whole: of a damaged member it gives out, not verified, all that
    /// can be decoded before the damage. It holds very little, so [late flushes](Strictness::late_flushes) are
    /// accepted.
    pub fn streaming(strictness: Strictness) -> Self {
        Scanner::new(Strictness { late_flushes: true, ..strictness })
            .within(Room { parts: usize::MAX, ..Room::default() })
    }

    /// Makes it begin at byte `offset` of the file, behind `members` members.
    pub fn at(mut self, members: u64, offset: u64) -> Self {
        (self.number, self.feed.offset) = (members, offset);
        self
    }

    /// Limits the memory. A member that does not fit is not taken as a whole; one whose dictionary does not fit is an
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

    /// Returns the largest contents of a member that is taken as a whole, in bytes.
    fn whole(&self) -> u64 {
        let dictionary = u64::from(self.dictionary);
        (2 * dictionary).clamp(SMALL, LARGE).min(self.room.whole(dictionary))
    }

    /// Decides what follows a member, and begins it.
    fn between(&mut self, input: &mut &[u8]) -> Result<Step<Scanned<Member>>, DecodeError> {
        self.state = State::Between;
        self.feed.hold(input, HEADER_LEN);
        if let Some(size) = self.usual_size {
            // If the size of the member follows, its version number is damaged.
            if !self.feed.hold(input, size_of::<u64>()) && size.to_le_bytes().starts_with(&self.feed.held) {
                return Ok(Step::Starved);
            }
            if self.feed.held.starts_with(&size.to_le_bytes()) {
                return Err(self.fault_at(self.start + MAGIC.len() as u64, Fault::Version { found: 0 }));
            }
            self.usual_size = None;
        }
        if self.number > 0 && self.feed.held.first() == Some(&0) && !self.strictness.padding {
            self.state = State::Padding { from: self.feed.offset };
            return Ok(Step::On);
        }
        if self.feed.held.len() < HEADER_LEN {
            return Ok(Step::Starved);
        }
        if !self.feed.held.starts_with(&MAGIC) {
            return Err(self.no_header());
        }
        self.begin();
        let found = Kind::of(&self.feed.held);
        let (kind, dictionary) = found.map_err(|(at, fault)| self.fault_at(self.start + at as u64, fault))?;
        self.dictionary = dictionary;
        if !self.room.has(self.dictionary.into()) {
            return Err(self.fault(Fault::Memory { dictionary: self.dictionary }));
        }
        if kind == Kind::Old {
            if self.strictness.current {
                return Err(self.fault_at(self.start + MAGIC.len() as u64, Fault::Version { found: 0 }));
            }
            return Ok(self.stream(kind, Lzma::flushed(dictionary), 0));
        }
        self.state = State::Member { searched: HEADER_LEN };
        Ok(Step::On)
    }

    /// Returns the error of bytes that are no header.
    fn no_header(&mut self) -> DecodeError {
        let found = &self.feed.held[..self.feed.held.len().min(MAGIC.len())];
        let alike = found.iter().zip(MAGIC).filter(|(found, magic)| *found == magic).count();
        let found = found.to_vec();
        if self.number == 0 {
            return self.fault(Fault::Magic { found });
        }
        if alike > 1 && !self.strictness.loose_trailing {
            self.begin();
            return self.fault(Fault::DamagedHeader { found });
        }
        self.fault(Fault::TrailingGarbage)
    }

    /// Begins a member.
    fn begin(&mut self) {
        self.number += 1;
        self.start = self.feed.offset;
    }

    fn padding(&mut self, input: &mut &[u8], from: u64) -> Result<Step<Scanned<Member>>, DecodeError> {
        if self.feed.held.iter().chain(*input).any(|&byte| byte != 0) {
            return Err(self.fault_at(from, Fault::TrailingGarbage));
        }
        self.state = State::Padding { from };
        self.feed.offset += (self.feed.held.len() + input.len()) as u64;
        self.feed.held.clear();
        *input = &[];
        Ok(Step::Starved)
    }

    /// Holds a member until it ends, or is too large to be held.
    fn member(
        &mut self,
        input: &mut &[u8],
        data: &mut Vec<u8>,
        searched: usize,
    ) -> Result<Step<Scanned<Member>>, DecodeError> {
        let (before, had) = (*input, self.feed.held.len());
        let limit = bound(self.whole() as usize);
        let more = input.len().min(limit.saturating_sub(had));
        make_room(&mut self.feed.held, more).map_err(|fault| self.fault(fault.into()))?;
        self.feed.hold(input, limit);
        if let Some(&found @ 1..) = self.feed.held.get(HEADER_LEN)
            && self.strictness.marking
        {
            return Err(self.fault_at(self.start + HEADER_LEN as u64, Fault::Marking { found }));
        }
        let Some(end) = self.find_end(searched) else {
            if self.feed.held.len() >= limit {
                return self.stream_large(self.feed.held.len());
            }
            self.state = State::Member { searched: self.feed.held.len() };
            return Ok(Step::Starved);
        };
        let trailer = Trailer::read(self.feed.held[..end].last_chunk().expect("a member has a trailer"));
        if trailer.data_size > self.whole() {
            return self.stream_large(end - TRAILER_LEN);
        }
        if trailer.data_size == 0 && self.strictness.empty {
            return Err(self.fault(Fault::Empty));
        }
        // The bytes behind the end came in this step.
        *input = &before[end - had..];
        self.feed.held.truncate(end);
        let bytes = self.feed.take_held(data);
        self.feed.offset += end as u64;
        self.state = State::Between;
        let member = Member { number: self.number, start: self.start, dictionary: self.dictionary, bytes };
        Ok(Step::Found(Scanned::Whole(member)))
    }

    /// Finds the end of the held member: eight bytes that state the number of bytes up to their end. There is no end in
    /// the first `searched` bytes.
    fn find_end(&self, searched: usize) -> Option<usize> {
        // A member that is held has less than 4 GiB, so the number ends with four zeros.
        let mut from = searched.saturating_sub(3);
        while let Some(found) = self.zeros.find(&self.feed.held[from..]) {
            let end = from + found + 4;
            if end >= EMPTY_LEN && self.feed.held[..end].last_chunk() == Some(&(end as u64).to_le_bytes()) {
                return Some(end);
            }
            from += found + 1;
        }
        None
    }

    /// Begins to decode the member whose first bytes are held. Sync flush markers behind the first `held` bytes are
    /// only supported with `late_flushes`, because that decoder is slower.
    fn stream_large(&mut self, held: usize) -> Result<Step<Scanned<Member>>, DecodeError> {
        let lzma = match self.strictness.late_flushes {
            true => Lzma::flushed(self.dictionary),
            false => Lzma::new(self.dictionary).map_err(|fault| self.fault(fault))?,
        };
        Ok(self.stream(Kind::Usual, lzma, held as u64))
    }

    /// Begins to decode the member whose first bytes are held.
    fn stream(&mut self, kind: Kind, lzma: Lzma, held: u64) -> Step<Scanned<Member>> {
        self.feed.replay(HEADER_LEN);
        self.feed.release();
        let checksum = Hasher::new();
        self.state = State::Data(Box::new(Streamed { kind, lzma, known: 0, held, checksum, data_size: 0 }));
        Step::On
    }

    /// Begins to decode an incomplete member with all its markers, unless only verified data may be given out.
    fn stream_early(&mut self) -> Option<Step<Scanned<Member>>> {
        let is_held = matches!(self.state, State::Member { .. });
        (is_held && !self.feed.giving.verified)
            .then(|| self.stream(Kind::Usual, Lzma::flushed(self.dictionary), 0))
    }

    /// Decodes a member again from its start, which is held, and gives out the contents that were not given out before.
    fn begin_again(&mut self, mut streamed: Box<Streamed>) -> Step<Scanned<Member>> {
        streamed.lzma = Lzma::flushed(self.dictionary);
        streamed.known = streamed.data_size;
        self.feed.replay_again(HEADER_LEN);
        self.feed.offset = self.start + streamed.lzma.at();
        self.state = State::Data(streamed);
        Step::On
    }

    /// Decodes until the chunk is full or the LZMA data ends.
    fn data(
        &mut self,
        input: &mut &[u8],
        data: &mut Vec<u8>,
        mut streamed: Box<Streamed>,
    ) -> Result<Step<Scanned<Member>>, DecodeError> {
        self.feed.chunk.resize(CHUNK, 0);
        while !input.is_empty() || streamed.lzma.has_more() {
            let written = streamed.lzma.produced();
            let known =
                streamed.known.saturating_sub(written).min((CHUNK - self.feed.filled) as u64) as usize;
            let end = if known > 0 { self.feed.filled + known } else { CHUNK };
            let progress = streamed.lzma.step(input, &mut self.feed.chunk[self.feed.filled..end]);
            let mut produced = (streamed.lzma.produced() - written) as usize;
            if known > 0 {
                produced = 0;
            }
            streamed.checksum.update(&self.feed.chunk[self.feed.filled..self.feed.filled + produced]);
            streamed.data_size += produced as u64;
            self.feed.filled += produced;
            self.feed.offset = self.start + streamed.lzma.at();
            let progress = match progress {
                Ok(progress) => progress,
                Err(fault) => return Err(self.fault(fault)),
            };
            if progress.ended {
                if streamed.lzma.at() < streamed.held && !streamed.lzma.knows_flushes() {
                    return Ok(self.begin_again(streamed));
                }
                self.state = State::Trailer(streamed);
                return Ok(Step::On);
            }
            if self.feed.filled == CHUNK {
                self.state = State::Data(streamed);
                return Ok(self.feed.found(data));
            }
        }
        self.state = State::Data(streamed);
        Ok(Step::Starved)
    }

    fn trailer(
        &mut self,
        input: &mut &[u8],
        data: &mut Vec<u8>,
        streamed: Box<Streamed>,
    ) -> Result<Step<Scanned<Member>>, DecodeError> {
        let len = streamed.kind.trailer_len();
        self.feed.hold(input, len);
        if self.feed.held.len() < len {
            self.state = State::Trailer(streamed);
            return Ok(Step::Starved);
        }
        let found = Trailer {
            checksum: streamed.checksum.clone().finalize(),
            data_size: streamed.data_size,
            member_size: streamed.lzma.at() + len as u64,
        };
        let trailer = match self.feed.held.first_chunk() {
            Some(trailer) => Trailer::read(trailer),
            None => Trailer::read_old(&self.feed.held, found.member_size),
        };
        if let Err((at, fault)) = trailer.check(found) {
            // Damage may change one of these numbers, but not all of them.
            if !streamed.lzma.knows_flushes() && !trailer.has_any_of(found) {
                return Err(self.fault(Fault::LateFlush));
            }
            self.feed.offset += at;
            return Err(self.fault(fault));
        }
        if found.data_size == 0 && self.strictness.empty {
            return Err(self.fault_at(self.start, Fault::Empty));
        }
        self.usual_size = (streamed.kind == Kind::Old).then(|| found.member_size + size_of::<u64>() as u64);
        self.feed.offset += len as u64;
        self.feed.held.clear();
        self.state = State::Between;
        Ok(self.feed.found_rest(data))
    }

    /// Returns the error of a fault in this member, at the place that the scanner has reached.
    fn fault(&self, fault: Fault) -> DecodeError {
        self.fault_at(self.feed.offset, fault)
    }

    fn fault_at(&self, offset: u64, fault: Fault) -> DecodeError {
        let place = Place::Member { number: self.number.max(1), start: self.start };
        DecodeError::new(place, offset, fault)
    }
}

impl States for Scanner {
    type Found = Scanned<Member>;
    type Fault = Fault;

    const BEGINNING: Beginning = Beginning {
        magic: &MAGIC,
        len: HEADER_LEN,
        may_begin: |start| start.len() == HEADER_LEN && dictionary(start).is_ok(),
    };

    fn feed(&mut self) -> &mut Feed<DecodeError> {
        &mut self.feed
    }

    fn step(&mut self, input: &mut &[u8], data: &mut Vec<u8>) -> Result<Step<Scanned<Member>>, DecodeError> {
        match mem::replace(&mut self.state, State::Ended) {
            State::Between => self.between(input),
            State::Padding { from } => self.padding(input, from),
            State::Member { searched } => self.member(input, data, searched),
            State::Data(streamed) => self.data(input, data, streamed),
            State::Trailer(streamed) => self.trailer(input, data, streamed),
            State::Ended => {
                *input = &[];
                Ok(Step::Starved)
            }
        }
    }

    fn end(&mut self) {
        self.state = State::Ended;
    }

    fn give_rest(&mut self, data: &mut Vec<u8>) -> Option<Scanned<Member>> {
        self.feed.give_rest(data)
    }

    /// Decodes the available part of a member that does not end where it should.
    fn reconsider(&mut self, _: &mut Vec<u8>) -> Result<Step<Scanned<Member>>, DecodeError> {
        Ok(self.stream_early().unwrap_or(Step::Starved))
    }

    /// Decodes the data that was flushed.
    fn pause(&mut self) -> Result<(), DecodeError> {
        self.stream_early();
        Ok(())
    }

    fn cut(&mut self) -> Option<DecodeError> {
        let inside = match &self.state {
            State::Between if self.number == 0 => Part::Header,
            State::Between if self.feed.held.is_empty() => return None,
            State::Between if MAGIC.starts_with(&self.feed.held[..self.feed.held.len().min(MAGIC.len())]) => {
                self.begin();
                Part::Header
            }
            State::Between => return Some(self.fault(Fault::TrailingGarbage)),
            State::Data(_) | State::Member { .. } => Part::Data,
            State::Trailer(_) => Part::Trailer,
            State::Padding { .. } | State::Ended => return None,
        };
        self.feed.release();
        Some(self.fault(Fault::Truncated { inside }))
    }
}

impl Scan for Scanner {
    type Whole = Member;
    type Error = DecodeError;
    type Decoder = Decoder;

    fn next(
        &mut self,
        input: &mut &[u8],
        data: &mut Vec<u8>,
    ) -> Result<Option<Scanned<Member>>, DecodeError> {
        feed::next(self, input, data)
    }

    fn pause(&mut self, data: &mut Vec<u8>) -> Result<Option<Scanned<Member>>, DecodeError> {
        feed::pause(self, data)
    }

    fn finish(&mut self, data: &mut Vec<u8>) -> Result<Option<Scanned<Member>>, DecodeError> {
        feed::finish(self, data)
    }

    fn decoders(&self) -> impl Fn() -> Decoder + Send + Sync + use<> {
        Decoder::new
    }

    fn decode_into(decoder: &mut Decoder, member: &Member, data: &mut Vec<u8>) -> Result<(), DecodeError> {
        decoder.decode_into(member, data)
    }

    fn into_bytes(member: Member) -> Vec<u8> {
        member.bytes
    }
}

impl Default for Scanner {
    fn default() -> Self {
        Scanner::new(Strictness::default())
    }
}

impl fmt::Debug for Scanner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scanner")
            .field("member", &self.number)
            .field("start", &self.start)
            .finish_non_exhaustive()
    }
}
