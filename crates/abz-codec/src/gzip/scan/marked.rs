//! Members with marks: their blocks state their sizes.

use std::mem;

use super::state::{Scanned, Scanner, State};
use crate::feed::Step;
use crate::gzip::error::{DecodeError, Fault};
use crate::gzip::inflate::Inflater;
use crate::gzip::mark::{MARK_LEN, Mark};
use crate::gzip::member::{Member, TAIL};
use crate::gzip::{EMPTY_DEFLATE, TRAILER_LEN, u32_at};
use crate::parts::CHUNK;

impl Scanner {
    /// Finds the next mark, or the end of the deflate data, in a member with marks.
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
            // The member has no marks after all.
            _ if self.marked.blocks == 0 && !self.marked.is_part => {
                self.feed.replay(0);
                self.stream();
                Ok(Step::On)
            }
            None if !self.marked.is_part && Mark::is_end(&self.feed.held) => {
                self.feed.release();
                self.stream_on(true).map(|()| Step::On)
            }
            None if !self.marked.is_part => self.stream_on(false).map(|()| Step::On),
            // A part of a file may end with this block, or the mark belongs to another member.
            _ => Err(self.fault(Fault::Mark)),
        }
    }

    /// Decodes the rest of a member as a stream, because the held bytes are no mark, or, if `is_told`, because the last mark
    /// said so. If not, another program has appended data, as zlib's `gzappend` does. This data may refer to the contents
    /// of the last blocks.
    pub(super) fn stream_on(&mut self, is_told: bool) -> Result<(), DecodeError> {
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
                    // A block is damaged. The error comes from the decoder of the block.
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
        self.is_told = is_told;
        self.feed.replay(0);
        self.state = State::Data;
        Ok(())
    }

    /// Decodes the held block as a stream, from its mark on, because the file ends inside it. It refers to nothing
    /// before it.
    pub(super) fn stream_block(&mut self) {
        let marked = mem::take(&mut self.marked);
        self.before = Some((marked.sum.finalize(), marked.len));
        self.is_told = true;
        self.feed.replay(0);
        self.stream();
    }

    /// Returns whether a mark agrees with the blocks before it.
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

    /// Holds a block until it is complete.
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

    /// Verifies the marks against the trailer.
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
