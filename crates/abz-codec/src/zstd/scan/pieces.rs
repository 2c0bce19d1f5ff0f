//! Scanning of a frame of [pieces](super::super): its marks, and the pieces between them.

use super::super::error::{DecodeError, Fault};
use super::super::frame::{Frame, as_frame, header_of};
use super::super::mark::{self, MARK_LEN, Mark};
use super::super::{CHECKSUM, LAST_BLOCK, u32_at};
use super::{Scanner, State};
use crate::feed::Step;
use crate::memory::make_room;
use crate::parts::Scanned;

impl Scanner {
    /// Reads a mark.
    pub(super) fn mark(&mut self, input: &mut &[u8]) -> Result<Step<Scanned<Frame>>, DecodeError> {
        if !self.feed.hold(input, MARK_LEN) {
            return Ok(Step::Starved);
        }
        self.state = match Mark::parse(&self.feed.held) {
            Some(Mark::Piece(piece)) if self.pieces.may_have(&piece, &self.header) => State::Piece(piece),
            Some(Mark::End(end)) => State::Last(end),
            _ => {
                return Err(self.fault(Fault::Header { expected: "the mark of the next piece, or the last" }));
            }
        };
        Ok(Step::On)
    }

    /// Gives out a piece, converted to a frame, when it is held.
    pub(super) fn piece(
        &mut self,
        input: &mut &[u8],
        data: &mut Vec<u8>,
        piece: mark::Piece,
    ) -> Result<Step<Scanned<Frame>>, DecodeError> {
        let len = MARK_LEN + piece.compressed as usize;
        let missing = (len + LAST_BLOCK.len()).saturating_sub(self.feed.held.len());
        make_room(&mut self.feed.held, missing).map_err(|fault| self.fault(fault.into()))?;
        if !self.feed.hold(input, len) {
            return Ok(Step::Starved);
        }
        let bytes = self.feed.take_held(data);
        let frame = as_frame(bytes, piece, (self.number, self.start), (self.feed.offset, &self.header))?;
        self.pieces.add(&piece);
        self.feed.offset += len as u64;
        self.state = State::Mark;
        Ok(Step::Found(Scanned::Whole(frame)))
    }

    /// Decodes a piece that is cut by the end of the file as a frame, as far as possible.
    pub(super) fn stream_piece(&mut self, piece: &mark::Piece) -> Result<(), DecodeError> {
        let (header, head) = header_of(piece);
        let from = MARK_LEN - head.len();
        self.feed.held[from..MARK_LEN].copy_from_slice(&head);
        self.feed.held.drain(..from);
        self.feed.offset += from as u64;
        self.header = header;
        self.stream()
    }

    /// Verifies the end of a frame of pieces against the pieces.
    pub(super) fn last(
        &mut self,
        input: &mut &[u8],
        end: mark::End,
    ) -> Result<Step<Scanned<Frame>>, DecodeError> {
        let checksum_at = MARK_LEN + LAST_BLOCK.len();
        if !self.feed.hold(input, checksum_at + CHECKSUM * usize::from(self.header.checksum)) {
            return Ok(Step::Starved);
        }
        let expected = match () {
            () if !self.pieces.are(&end) => "the last mark of a frame with the pieces before it",
            () if self.header.window >> 10 != u64::from(end.window) => {
                "a frame's last mark with the window of its header"
            }
            () if self.header.contents.is_some_and(|said| said != end.contents) => {
                "a frame's last mark with the size in its header"
            }
            () if self.feed.held[MARK_LEN..checksum_at] != LAST_BLOCK => {
                "the last block of a frame behind its last mark"
            }
            () if self.header.checksum && u32_at(&self.feed.held, checksum_at) != end.checksum => {
                let fault = Fault::Checksum { expected: u32_at(&self.feed.held, checksum_at) };
                return Err(self.fault_at(self.feed.offset + checksum_at as u64, fault));
            }
            () => {
                self.feed.release();
                self.state = State::Between;
                return Ok(Step::On);
            }
        };
        Err(self.fault(Fault::Header { expected }))
    }
}
