//! Members with marks: blocks that say how large they are.

use std::collections::VecDeque;
use std::mem;

use crc32fast::Hasher;

use super::{Scanned, Scanner, State};
use crate::feed::Step;
use crate::gzip::error::{DecodeError, Fault};
use crate::gzip::inflate::Inflater;
use crate::gzip::mark::{MARK_LEN, Mark};
use crate::gzip::member::{Member, TAIL};
use crate::gzip::{EMPTY_DEFLATE, TRAILER_LEN, u32_at};
use crate::inflate::WINDOW;
use crate::parts::CHUNK;

/// What the marks of a member have said so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Marked {
    /// Blocks that were found.
    pub(super) blocks: u64,
    /// The CRC-32 of their contents, and their size in bytes.
    pub(super) sum: Hasher,
    pub(super) len: u64,
    /// The number in all marks of the member.
    pub(super) number: u32,
    /// The file is read from a mark on: what comes before it is not known.
    pub(super) is_part: bool,
    /// The deflate data of the last blocks, each with the size of its contents, as far as others may refer to these.
    pub(super) recent: VecDeque<(Vec<u8>, usize)>,
}

impl Marked {
    /// Another block was found, of this deflate data.
    fn add(&mut self, mark: &Mark, deflated: &[u8]) {
        self.blocks += 1;
        self.len += u64::from(mark.len);
        self.sum.combine(&Hasher::new_with_initial_len(mark.crc32, mark.len.into()));
        if self.is_part {
            return;
        }
        self.recent.push_back((Vec::new(), mark.len as usize));
        let mut reach: usize = self.recent.iter().map(|(_, len)| len).sum();
        while let Some((_, first)) = self.recent.front()
            && reach - first >= WINDOW
        {
            reach -= first;
            let (mut home, _) = self.recent.pop_front().expect("it was just looked at");
            let last = self.recent.back_mut().expect("the last one reaches no less");
            home.clear();
            last.0 = home;
        }
        let (last, _) = self.recent.back_mut().expect("it was just put there");
        last.extend_from_slice(deflated);
    }
}

impl Scanner {
    /// Finds what follows in a member with marks.
    pub(super) fn mark(&mut self, input: &mut &[u8]) -> Result<Step<Scanned>, DecodeError> {
        if !self.feed.hold(input, EMPTY_DEFLATE.len()) {
            return Ok(Step::Starved);
        }
        if self.feed.held.starts_with(&EMPTY_DEFLATE) && self.marked.blocks > 0 {
            self.feed.release();
            self.state = State::MarkedTrailer;
            return Ok(Step::On);
        }
        if !self.feed.hold(input, MARK_LEN) && Mark::may_begin(&self.feed.held) {
            return Ok(Step::Starved);
        }
        match Mark::parse(&self.feed.held) {
            Some(mark) if self.admits(&mark) => {
                self.state = State::Block { mark };
                Ok(Step::On)
            }
            // The subfield of the header was not ours: it is a member like any other.
            _ if self.marked.blocks == 0 && !self.marked.is_part => {
                self.feed.replay(0);
                self.stream();
                Ok(Step::On)
            }
            None if !self.marked.is_part => self.stream_on().map(|()| Step::On),
            // The block of another member.
            _ => Err(self.fault(Fault::Mark)),
        }
    }

    /// The held bytes are no mark. Another program has appended to the member, as zlib's `gzappend` does. From here on it is a
    /// stream, whose data may refer to the contents of the last blocks.
    pub(super) fn stream_on(&mut self) -> Result<(), DecodeError> {
        let marked = mem::take(&mut self.marked);
        let inflater = self.inflater.get_or_insert_with(Inflater::new);
        inflater.reset();
        self.feed.chunk.resize(CHUNK, 0);
        let mut is_right = true;
        for (deflated, _) in &marked.recent {
            let mut rest = &deflated[..];
            loop {
                match inflater.step(rest, &mut self.feed.chunk) {
                    Ok(step) if !step.ended => {
                        rest = &rest[step.consumed..];
                        if rest.is_empty() && step.produced < CHUNK {
                            break;
                        }
                    }
                    // One of the blocks is damaged, and is told of by who decodes it.
                    _ => {
                        is_right = false;
                        break;
                    }
                }
            }
        }
        if !is_right {
            return Err(self.fault(Fault::Mark));
        }
        self.before = Some((marked.sum.finalize(), marked.len));
        self.feed.replay(0);
        self.state = State::Data;
        Ok(())
    }

    /// True if a mark is right about what came before it.
    fn admits(&mut self, mark: &Mark) -> bool {
        if self.marked.blocks == 0 {
            self.marked.number = mark.member;
            if self.marked.is_part {
                self.marked.len = mark.start.unwrap_or(0);
                return true;
            }
        }
        mark.follows(self.marked.len, self.marked.number)
    }

    /// Holds a block until it is whole.
    pub(super) fn block(
        &mut self,
        input: &mut &[u8],
        spare: &mut Vec<u8>,
        mark: Mark,
    ) -> Result<Step<Scanned>, DecodeError> {
        let len = mark.size();
        if self.feed.held.capacity() < len + TAIL.len() {
            spare.clear();
            spare.reserve(len + TAIL.len());
            spare.append(&mut self.feed.held);
            mem::swap(spare, &mut self.feed.held);
        }
        if !self.feed.hold(input, len) {
            return Ok(Step::Starved);
        }
        self.marked.add(&mark, &self.feed.held[MARK_LEN..len]);
        spare.clear();
        let mut bytes = mem::replace(&mut self.feed.held, mem::take(spare));
        bytes.extend_from_slice(&TAIL);
        let block = Some((mark, self.feed.offset));
        let member = Member { number: self.number, start: self.start, header_len: MARK_LEN, bytes, block };
        self.feed.offset += len as u64;
        self.state = State::Mark;
        Ok(Step::Found(Scanned::Member(member)))
    }

    /// Holds what the marks said against the trailer.
    pub(super) fn marked_trailer(&mut self, input: &mut &[u8]) -> Result<Step<Scanned>, DecodeError> {
        if !self.feed.hold(input, TRAILER_LEN) {
            return Ok(Step::Starved);
        }
        let trailer_at = self.feed.offset;
        if !self.marked.is_part {
            let (expected, found) = (u32_at(&self.feed.held, 4), self.marked.len as u32);
            if expected != found {
                return Err(self.fault_at(trailer_at + 4, Fault::Length { expected, found }));
            }
            let (expected, found) = (u32_at(&self.feed.held, 0), self.marked.sum.clone().finalize());
            if expected != found {
                return Err(self.fault_at(trailer_at, Fault::Checksum { expected, found }));
            }
        }
        self.feed.release();
        self.state = State::Between;
        Ok(Step::On)
    }
}
