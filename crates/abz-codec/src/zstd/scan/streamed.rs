//! Scanning of a frame that the scanner decodes itself, and whose contents it gives out as they come.

use super::super::error::{DecodeError, Fault};
use super::super::frame::Frame;
use super::super::header::{BlockHeader, FrameHeader};
use super::super::stream::Stream;
use super::super::{BLOCK_HEADER, CHECKSUM};
use super::{Next, OTHER_SIZE, Scanner, State};
use crate::feed::Step;
use crate::parts::{CHUNK, Scanned};

impl Scanner {
    /// Begins to decode the frame whose first bytes are held.
    pub(super) fn stream(&mut self) -> Result<(), DecodeError> {
        let (window, limit) = (self.header.window, self.decoding.window_limit());
        let needed = self.decoding.needed(window);
        match self.decoding.memory_limit {
            Some(limit) if needed > limit => {
                return Err(self.fault(Fault::MemoryLimit { needed, limit }));
            }
            None if window > limit => return Err(self.fault(Fault::Window { needed: window, limit })),
            _ => {}
        }
        if self.stream.is_none() {
            let stream = Stream::new(&self.decoding);
            self.stream = Some(stream.map_err(|failure| self.fault(failure.fault(0, needed)))?);
        }
        self.stream.as_mut().expect("it was just made").reset();
        self.came = 0;
        let (_, len) = FrameHeader::parse(&self.feed.held).ok().flatten().expect("it was parsed before");
        // The bytes behind the header are read again.
        self.feed.replay(len);
        self.decode_part(0, Next::Block);
        Ok(())
    }

    /// Begins the next block of a frame that is streamed.
    pub(super) fn block(&mut self, input: &mut &[u8]) -> Result<Step<Scanned<Frame>>, DecodeError> {
        if !self.feed.hold(input, BLOCK_HEADER) {
            return Ok(Step::Starved);
        }
        let header = *self.feed.held.first_chunk().expect("it is held");
        let found = BlockHeader::parse(header, &self.header);
        let header = found.map_err(|expected| self.fault(Fault::Header { expected }))?;
        // A block is decoded when it is complete, so that the same contents come before a fault, however the bytes
        // arrive.
        let is_at_hand = self.feed.held.len() == BLOCK_HEADER && input.len() >= header.len;
        if !is_at_hand && !self.feed.hold(input, BLOCK_HEADER + header.len) {
            return Ok(Step::Starved);
        }
        let left = if is_at_hand { header.len } else { 0 };
        let next = match (header.is_last, self.header.checksum) {
            (false, _) => Next::Block,
            (true, true) => Next::Checksum,
            (true, false) => Next::Nothing,
        };
        self.decode_part(left, next);
        Ok(Step::On)
    }

    /// Starts to decode what has come of a block that the end of the file cuts. Returns `false` if none of its contents
    /// are known, as in a compressed block.
    pub(super) fn give_cut_block(&mut self) -> bool {
        let Some((&header, come)) = self.feed.held.split_first_chunk() else { return false };
        match BlockHeader::parse(header, &self.header) {
            Ok(header) if header.is_stored && !come.is_empty() && !self.feed.giving.verified => {
                self.decode_part(header.len - come.len(), Next::Nothing);
                true
            }
            _ => false,
        }
    }

    /// Verifies the checksum of a frame that is streamed.
    pub(super) fn checksum(&mut self, input: &mut &[u8]) -> Result<Step<Scanned<Frame>>, DecodeError> {
        if !self.feed.hold(input, CHECKSUM) {
            return Ok(Step::Starved);
        }
        self.decode_part(0, Next::Nothing);
        Ok(Step::On)
    }

    /// Starts to decode a part: the bytes that are held, and the `left` bytes after them.
    fn decode_part(&mut self, left: usize, next: Next) {
        self.part = self.feed.offset;
        self.state = State::Part { fed: 0, left, next };
    }

    /// Decodes a part of a frame until the chunk is full, or the part ends, or more input is needed.
    pub(super) fn part(
        &mut self,
        input: &mut &[u8],
        data: &mut Vec<u8>,
        mut fed: usize,
        mut left: usize,
        next: Next,
    ) -> Result<Step<Scanned<Frame>>, DecodeError> {
        if self.feed.chunk.len() < CHUNK {
            self.feed.chunk.resize(CHUNK, 0);
        }
        let stream = self.stream.as_mut().expect("it was made where the frame began");
        loop {
            let is_held = fed < self.feed.held.len();
            let part = match (stream.has_more, is_held) {
                // The contents that did not fit before come first. They would be lost with a fault.
                (true, _) => &[],
                (false, true) => &self.feed.held[fed..],
                (false, false) => &input[..left.min(input.len())],
            };
            if part.is_empty() && !stream.has_more {
                break;
            }
            let before = self.feed.filled;
            let taken = match stream.step(part, &mut self.feed.chunk, &mut self.feed.filled) {
                Ok(taken) => {
                    self.came += (self.feed.filled - before) as u64;
                    taken
                }
                Err(failure) => {
                    let checksum = self.feed.held.first_chunk().map_or(0, |&bytes| u32::from_le_bytes(bytes));
                    return Err(self.fault_at(self.part, failure.fault(checksum, self.header.window)));
                }
            };
            if is_held {
                fed += taken;
            } else {
                *input = &input[taken..];
                left -= taken;
                self.feed.offset += taken as u64;
            }
            if self.feed.filled == self.feed.chunk.len() {
                self.state = State::Part { fed, left, next };
                return Ok(self.feed.found(data));
            }
        }
        if left > 0 {
            self.state = State::Part { fed, left, next };
            return Ok(Step::Starved);
        }
        let has_ended = stream.has_ended;
        self.feed.release();
        self.state = match next {
            Next::Block => State::Block,
            Next::Checksum => State::Checksum,
            // libzstd does not check the size behind an empty block.
            Next::Nothing if self.header.contents.is_some_and(|said| said != self.came) => {
                return Err(self.fault_at(self.part, Fault::Data { detail: OTHER_SIZE }));
            }
            Next::Nothing if has_ended => {
                self.state = State::Between;
                // The data is given out before anything of the next frame.
                return Ok(self.feed.found_rest(data));
            }
            Next::Nothing => {
                return Err(self.fault_at(self.part, Fault::Data { detail: "the frame has no end" }));
            }
        };
        Ok(Step::On)
    }
}
