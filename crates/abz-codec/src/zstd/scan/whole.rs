//! Scanning of a frame that is given out whole, from block to block until its end is held.

use super::super::error::{DecodeError, Fault};
use super::super::frame::{Frame, most_compressed};
use super::super::header::BlockHeader;
use super::super::{BLOCK_HEADER, CHECKSUM};
use super::{Scanner, State};
use crate::feed::Step;
use crate::memory::make_room;
use crate::parts::Scanned;

impl Scanner {
    /// Goes on through a frame that is to be given out whole.
    pub(super) fn whole(
        &mut self,
        input: &mut &[u8],
        block: usize,
        most: usize,
    ) -> Result<Step<Scanned<Frame>>, DecodeError> {
        let missing = (block + BLOCK_HEADER).saturating_sub(self.feed.held.len());
        make_room(&mut self.feed.held, missing).map_err(|fault| self.fault(fault.into()))?;
        if !self.feed.hold(input, block + BLOCK_HEADER) {
            return Ok(Step::Starved);
        }
        let header = *self.feed.held[block..].first_chunk().expect("it is held");
        let found = BlockHeader::parse(header, &self.header);
        let header = found
            .map_err(|expected| self.fault_at(self.feed.offset + block as u64, Fault::Header { expected }))?;
        let next = block + BLOCK_HEADER + header.len;
        let most = most + header.most;
        let limit = self.header.contents.unwrap_or(self.decoding.most_whole() as u64) as usize;
        let is_too_much = self.header.contents.is_none() && most > limit;
        if is_too_much || next as u64 > most_compressed(limit as u64) {
            self.stream()?;
            return Ok(Step::On);
        }
        self.state = match header.is_last {
            false => State::Whole { block: next, most },
            true => State::End { len: next + CHECKSUM * usize::from(self.header.checksum), most },
        };
        Ok(Step::On)
    }

    pub(super) fn end(
        &mut self,
        input: &mut &[u8],
        data: &mut Vec<u8>,
        len: usize,
        most: usize,
    ) -> Result<Step<Scanned<Frame>>, DecodeError> {
        if !self.feed.hold(input, len) {
            return Ok(Step::Starved);
        }
        let bytes = self.feed.take_held(data);
        let most = self.header.contents.map_or(most, |len| len as usize);
        let Scanner { number, start, .. } = *self;
        let frame = Frame { number, start, at: start, bytes, from: 0, most, piece: None };
        self.feed.offset += len as u64;
        self.state = State::Between;
        Ok(Step::Found(Scanned::Whole(frame)))
    }
}
