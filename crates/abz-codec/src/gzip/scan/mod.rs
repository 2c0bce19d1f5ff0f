//! Scanning of a gzip file as its bytes come: into whole members if they state their size, and into decoded data if
//! not.

mod marked;
mod state;
mod whole;

use std::io;
use std::mem;
use std::ops::DerefMut;

use state::{Aim, Marked, START, State};
use whole::Look;

pub(super) use state::MAX_BGZF;
pub use state::{Next, Scanned, Scanner};

use super::error::{DecodeError, Fault, Part};
use super::guess::Guess;
use super::header::{MAGIC, RESERVED};
use super::inflate::Inflater;
use super::mark;
use super::member::Stretch;
use super::{EMPTY_DEFLATE, Extent, Header, TRAILER_LEN};
use crate::behind::Beginning;
use crate::damage::Place;
use crate::feed::{self, Feed, States, Step};
use crate::parts::CHUNK;

/// The size of a new chunk in bytes. It grows up to [`CHUNK`] when it is full.
const FIRST_CHUNK: usize = 16 << 10;

/// The number of bytes that are first held for a header. Most headers are shorter.
const GLANCE: usize = 512;

impl Scanner {
    /// Returns whether the scanner is at the end of a member and holds no bytes behind it.
    pub(super) fn is_between(&self) -> bool {
        self.state == State::Between && self.feed.held.is_empty() && !self.feed.is_replaying()
    }

    /// Finds the next member or piece of data. `input` has the next bytes of the file, and the scanner removes those
    /// that it has processed from the front. Returns `None` if all input was taken and more is needed.
    ///
    /// For [`Scanned::Data`] the data is in `data` afterwards. The previous contents of `data` are dropped and its
    /// allocation is used, for data or for the bytes of a member; a caller that decodes many members can pass used
    /// allocations back.
    ///
    /// # Errors
    ///
    /// If the file is damaged at this place or is no gzip file. After an error nothing more is found.
    /// [`Fault::TrailingGarbage`] comes after all members before it were given out.
    pub fn next(&mut self, input: &mut &[u8], data: &mut Vec<u8>) -> Result<Option<Scanned>, DecodeError> {
        feed::next(self, input, data)
    }

    /// As [`next`](Scanner::next), with a guess. The guess must be of the piece of the file whose rest is `input`, and
    /// `place` is the offset in the file at which the piece begins. The guess is taken if a block begins where it
    /// assumes one, and dropped if none does. Guesses change only how the contents are divided.
    ///
    /// # Errors
    ///
    /// As [`next`](Scanner::next).
    pub fn next_with<S: DerefMut<Target = [u16]>>(
        &mut self,
        input: &mut &[u8],
        (guess, place): (&mut Option<Guess<S>>, u64),
        data: &mut Vec<u8>,
    ) -> Result<Option<Next<S>>, DecodeError> {
        if let Some(known) = &*guess {
            let start = known.start;
            match self.aim {
                Aim::Reached => {
                    self.aim = Aim::Nowhere;
                    let inflater = self.inflater.as_mut().expect("it has stopped there");
                    // The guess is of no use if other bytes come before its piece.
                    let is_next = !self.feed.is_replaying();
                    let guess = guess.take().filter(|guess| is_next && guess.fits(inflater.window().len()));
                    if let Some(guess) = guess {
                        let end = (place + guess.taken as u64).max(self.feed.offset);
                        *input = &input[(end - self.feed.offset) as usize..];
                        self.feed.offset = end;
                        let (inflate, guessed) = guess.accept(inflater.window());
                        inflater.replace(inflate);
                        let stretch = self.stretch(None);
                        return Ok(Some(Next::Guessed(stretch, guessed)));
                    }
                }
                _ if self.feed.offset > place + start.bit / 8 + 1 => *guess = None,
                _ if !self.feed.is_replaying() => {
                    self.aim = Aim::At(8 * place + start.earliest, 8 * place + start.bit)
                }
                _ => self.aim = Aim::Nowhere,
            }
        }
        let found = self.next(input, data);
        if input.is_empty() && self.aim != Aim::Reached {
            self.aim = Aim::Nowhere;
        }
        Ok(found?.map(Next::Scanned))
    }

    /// Returns the number of the first member whose size differs from the one that the extra field of its header seems
    /// to state, if there is one. That is no fault: from this member on, all members are decoded as if their headers
    /// stated no size.
    pub fn mistaken(&self) -> Option<u64> {
        self.mistaken
    }

    /// Ends the file. Call it until it returns `None`; see [`next`](Scanner::next).
    ///
    /// # Errors
    ///
    /// As [`next`](Scanner::next), or if the file was cut: it must not end here.
    pub fn finish(&mut self, data: &mut Vec<u8>) -> Result<Option<Scanned>, DecodeError> {
        feed::finish(self, data)
    }

    /// Returns the error of a file that cannot be read on from here.
    pub(super) fn failed(&self, error: io::Error) -> DecodeError {
        let came = self.feed.offset + self.feed.held.len() as u64;
        self.fault_at(came, Fault::Io(error))
    }

    /// Decides what follows a member.
    fn between(&mut self, input: &mut &[u8]) -> Result<Step<Scanned>, DecodeError> {
        if self.number > 0 && !self.expects_more {
            // If the header of the first member is wrong, its parser returns a better error.
            self.feed.hold(input, MAGIC.len());
            match self.feed.held.first() {
                Some(0) => {
                    self.state = State::Padding { from: self.feed.offset };
                    return Ok(Step::On);
                }
                Some(_) if !self.feed.held.starts_with(&MAGIC[..self.feed.held.len().min(MAGIC.len())]) => {
                    return Err(self.fault(Fault::TrailingGarbage));
                }
                _ if self.feed.held.len() < MAGIC.len() => return Ok(Step::Starved),
                _ => {}
            }
        } else if input.is_empty() && self.feed.held.is_empty() {
            return Ok(Step::Starved);
        }
        if self.marked.is_part
            && self.marked.blocks == 0
            && self.feed.held.is_empty()
            && input[0] == mark::START[0]
        {
            // No member begins with such bytes.
            self.number += 1;
            self.start = self.feed.offset;
            self.state = State::Mark;
            return Ok(Step::On);
        }
        self.begin();
        Ok(Step::On)
    }

    /// Begins a member.
    fn begin(&mut self) {
        self.number += 1;
        self.start = self.feed.offset;
        self.state = State::Header;
    }

    fn padding(&mut self, input: &mut &[u8], from: u64) -> Result<Step<Scanned>, DecodeError> {
        if self.feed.held.iter().chain(*input).any(|&byte| byte != 0) {
            return Err(self.fault_at(from, Fault::TrailingGarbage));
        }
        self.feed.offset += (self.feed.held.len() + input.len()) as u64;
        self.feed.held.clear();
        *input = &[];
        Ok(Step::Starved)
    }

    fn header(&mut self, input: &mut &[u8], spare: &mut Vec<u8>) -> Result<Step<Scanned>, DecodeError> {
        let (header, header_len, before) = loop {
            let (had, before) = (self.feed.held.len(), *input);
            self.feed.hold(input, had + GLANCE);
            match Header::parse(&self.feed.held) {
                Ok(Some((header, len))) => break (header, len, before),
                Ok(None) if self.feed.held.len() == had => return Ok(Step::Starved),
                Ok(None) => {}
                Err(error) => return Err(self.fault(Fault::Header(error))),
            }
        };
        let extent = header.extent();
        let least = header_len + EMPTY_DEFLATE.len() + TRAILER_LEN;
        let fits = |extent: &Extent| extent.is_whole() && extent.compressed as usize >= least;
        let whole = extent.filter(|extent| fits(extent) && self.mistaken.is_none());
        self.expects_more = whole.is_some_and(|extent| extent.more);
        // The header was not complete before this step, so all surplus bytes were taken in this step.
        let give_back = |held: &mut Vec<u8>, from: usize| {
            let taken = before.len() - input.len() - held.len().saturating_sub(from);
            held.truncate(from);
            &before[taken..]
        };
        let Some(extent) = whole else {
            *input = give_back(&mut self.feed.held, header_len);
            if extent.is_some() {
                self.mistaken.get_or_insert(self.number);
                self.stream();
            } else {
                self.feed.release();
                self.marked = Marked::default();
                self.state = State::Mark;
            }
            return Ok(Step::On);
        };
        let len = extent.compressed as usize;
        *input = give_back(&mut self.feed.held, len);
        if self.feed.held.capacity() < len + START.len() {
            spare.clear();
            spare.reserve(len + START.len());
            spare.append(&mut self.feed.held);
            mem::swap(spare, &mut self.feed.held);
        }
        self.state = State::Member { len, header_len, uncompressed: extent.uncompressed };
        Ok(Step::On)
    }

    /// Drops the held header. From here on the scanner decodes the member itself.
    fn stream(&mut self) {
        self.feed.release();
        self.inflater.get_or_insert_with(Inflater::new).reset();
        self.state = State::Data;
    }

    /// Decodes until the chunk is full or the deflate data ends.
    fn data(&mut self, input: &mut &[u8], data: &mut Vec<u8>) -> Result<Step<Scanned>, DecodeError> {
        // A member of little contents needs little of a new chunk.
        let is_new = self.feed.chunk.capacity() < CHUNK;
        let len = if is_new { self.feed.chunk.len().max(FIRST_CHUNK) } else { CHUNK };
        self.feed.chunk.resize(len, 0);
        let inflater = self.inflater.as_mut().expect("it was made where the member began");
        match self.aim {
            Aim::At(earliest, _) => {
                let bit = 8 * self.feed.offset - inflater.bits_held();
                inflater.stop_behind(earliest.saturating_sub(bit));
            }
            _ => inflater.stop_behind(u64::MAX),
        }
        let mut has_grown = false;
        while mem::take(&mut has_grown) || !input.is_empty() {
            let before = inflater.consumed();
            match inflater.step(input, &mut self.feed.chunk[self.feed.filled..]) {
                Ok(step) => {
                    *input = &input[step.consumed..];
                    self.feed.offset += step.consumed as u64;
                    self.feed.filled += step.produced;
                    if step.ended {
                        self.state = State::Trailer;
                        return Ok(Step::On);
                    }
                    if step.stopped
                        && let Aim::At(_, last) = self.aim
                    {
                        inflater.stop_behind(u64::MAX);
                        self.aim = Aim::Nowhere;
                        if 8 * self.feed.offset - inflater.bits_held() <= last {
                            self.aim = Aim::Reached;
                            return Ok(self.give_out(data, None));
                        }
                    }
                    let len = self.feed.chunk.len();
                    if self.feed.filled == CHUNK {
                        return Ok(self.give_out(data, None));
                    } else if self.feed.filled == len {
                        self.feed.chunk.resize((4 * len).min(CHUNK), 0);
                        has_grown = true;
                    }
                }
                Err(fault) => {
                    // The data before the damage is given out, however the input arrives.
                    self.feed.filled += inflater.produced();
                    let offset = self.feed.offset + (inflater.consumed() - before);
                    return Err(self.fault_at(offset, fault));
                }
            }
        }
        Ok(Step::Starved)
    }

    fn trailer(&mut self, input: &mut &[u8], data: &mut Vec<u8>) -> Result<Step<Scanned>, DecodeError> {
        // The data before the trailer is given out first, whether the trailer is right or not.
        if !self.feed.giving.verified
            && let Some(rest) = self.give_rest(data)
        {
            return Ok(Step::Found(rest));
        }
        self.feed.hold(input, TRAILER_LEN);
        let Some(&trailer) = self.feed.held.first_chunk::<TRAILER_LEN>() else { return Ok(Step::Starved) };
        let trailer_at = self.feed.offset;
        self.feed.release();
        self.state = State::Between;
        Ok(self.give_out(data, Some((trailer_at, trailer))))
    }

    fn give_out(&mut self, data: &mut Vec<u8>, trailer: Option<(u64, [u8; TRAILER_LEN])>) -> Step<Scanned> {
        self.feed.give_out(data);
        Step::Found(Scanned::Data(self.stretch(trailer)))
    }

    /// Returns the description of the data that is given out.
    fn stretch(&mut self, trailer: Option<(u64, [u8; TRAILER_LEN])>) -> Stretch {
        let before = trailer.and_then(|_| self.before.take());
        Stretch { number: self.number, start: self.start, trailer, before }
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
    type Found = Scanned;
    type Fault = Fault;

    /// The ten fixed bytes of a header, if flags, level and system have valid values.
    const BEGINNING: Beginning = Beginning {
        magic: &START,
        len: 10,
        may_begin: |start| match start {
            [_, _, _, flags, _, _, _, _, 0 | 2 | 4, 0..=13 | 255] => flags & RESERVED == 0,
            _ => false,
        },
    };

    const WITHHOLDS: bool = true;

    fn feed(&mut self) -> &mut Feed<DecodeError> {
        &mut self.feed
    }

    fn step(&mut self, input: &mut &[u8], data: &mut Vec<u8>) -> Result<Step<Scanned>, DecodeError> {
        match self.state {
            State::Between => self.between(input),
            State::Padding { from } => self.padding(input, from),
            State::Header => self.header(input, data),
            State::Member { len, header_len, uncompressed } => {
                self.member(input, data, len, header_len, uncompressed)
            }
            State::Data => self.data(input, data),
            State::Trailer => self.trailer(input, data),
            State::Mark => self.mark(input),
            State::Block { mark } => self.block(input, data, mark),
            State::MarkedTrailer => self.marked_trailer(input),
            State::Ended => {
                *input = &[];
                Ok(Step::Starved)
            }
        }
    }

    fn end(&mut self) {
        self.state = State::Ended;
    }

    /// Gives out the chunk, except in a member that goes on behind its marks: there something is damaged, or was
    /// appended, so only full chunks are given out.
    fn give_rest(&mut self, data: &mut Vec<u8>) -> Option<Scanned> {
        let is_right = self.before.is_none() || self.is_told;
        (self.feed.filled > 0 && is_right).then(|| {
            self.feed.give_out(data);
            Scanned::Data(self.stretch(None))
        })
    }

    fn reconsider(&mut self, data: &mut Vec<u8>) -> Result<Step<Scanned>, DecodeError> {
        match self.state {
            // The bytes begin like a mark, but are no mark.
            State::Mark if !self.feed.held.is_empty() && self.marked.blocks == 0 && !self.marked.is_part => {
                self.feed.replay(0);
                self.stream();
                Ok(Step::On)
            }
            State::Mark if !self.feed.held.is_empty() && self.marked.blocks > 0 && !self.marked.is_part => {
                self.stream_on(false)?;
                Ok(Step::On)
            }
            State::Member { len, header_len, .. } if self.feed.held.len() >= len => {
                Ok(Step::Found(self.whole(len, header_len, data)))
            }
            State::Member { header_len, .. } => match self.look(self.feed.held.len(), header_len) {
                Look::Right | Look::Shorter => {
                    self.stream_after_all(header_len);
                    Ok(Step::On)
                }
                Look::Longer if !self.feed.giving.verified => {
                    self.feed.replay(header_len);
                    self.stream();
                    Ok(Step::On)
                }
                Look::Longer | Look::Wrong => Ok(Step::Starved),
            },
            State::Block { .. } if !self.marked.is_part && !self.feed.giving.verified => {
                self.stream_block();
                Ok(Step::On)
            }
            _ => Ok(Step::Starved),
        }
    }

    fn cut(&mut self) -> Option<DecodeError> {
        let state = mem::replace(&mut self.state, State::Ended);
        let end = self.feed.offset + self.feed.held.len() as u64;
        let (offset, inside) = match state {
            State::Between if self.feed.held.is_empty() && self.expects_more => {
                return Some(self.fault(Fault::MissingMember));
            }
            State::Between if self.feed.held.is_empty() && self.number > 0 => {
                self.state = State::Between;
                return None;
            }
            // A part of a file may end behind any block that it was asked for.
            State::Mark if self.feed.held.is_empty() && self.marked.is_part => {
                return Some(self.fault(Fault::MissingMember));
            }
            State::Padding { .. } | State::Ended => return None,
            State::Between => {
                self.begin();
                (end, Part::Header)
            }
            State::Header => (end, Part::Header),
            State::Member { .. } | State::Mark | State::Block { .. } => (end, Part::Data),
            State::Data if self.inflater.as_ref().is_some_and(Inflater::is_hopeless) => {
                return Some(self.fault(Fault::Deflate));
            }
            State::Data => (self.feed.offset, Part::Data),
            State::Trailer | State::MarkedTrailer => (end, Part::Trailer),
        };
        Some(self.fault_at(offset, Fault::Truncated { inside }))
    }
}
