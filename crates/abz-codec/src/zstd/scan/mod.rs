//! Scanning of a Zstandard file as its bytes come: into whole frames if they are small, and into decoded data if not.

mod pieces;
mod streamed;
mod whole;

use std::fmt;
use std::mem;

use super::decoding::Decoding;
use super::error::{DecodeError, Fault, Part};
use super::frame::{Frame, Pieces};
use super::header::{BlockHeader, FrameHeader};
use super::mark::{self, MARK_LEN, Mark};
use super::stream::Stream;
use super::{BLOCK_HEADER, CHECKSUM, LAST_BLOCK, MAGIC, SKIPPABLE, SKIPPABLE_HEADER, is_skippable, u32_at};
use crate::behind::Beginning;
use crate::damage::Place;
use crate::feed::{Feed, States, Step};
use crate::parts::{Giving, Scanned};

/// The largest contents, in bytes, of a frame that is always decoded as a whole.
const SMALL: u64 = 4 << 20;

/// A larger frame is decoded as a whole if the size of its contents is a multiple of this number of bytes. Programs
/// that cut a file into frames make such sizes, so other frames probably follow. A frame that is alone in its file is
/// decoded faster as it comes, while other workers read and write.
const MULTIPLE: u64 = 1 << 20;

/// A scanner, which finds the frames of a Zstandard file that is pushed to it from its start. It goes from block to
/// block, so it knows exactly where a frame ends. It gives out whole frames if they state that their contents are not
/// large, or if they follow a hint of pzstd, and it gives out the [pieces](super) of frames. It decodes all other
/// frames itself, and gives out their contents as they come.
///
/// ```
/// use abz_codec::parts::{Scan, Scanned};
/// use abz_codec::zstd::{Decoding, Scanner};
///
/// let hello = b"\x28\xb5\x2f\xfd\x20\x05\x29\0\0hello";
/// let mut scanner = Scanner::new(&Decoding::default());
/// let (mut decoder, mut data, mut text) = (scanner.decoder(), Vec::new(), Vec::new());
/// for mut piece in hello.chunks(3) {
///     while let Some(found) = scanner.next(&mut piece, &mut data)? {
///         if let Scanned::Whole(frame) = found {
///             decoder.decode_into(&frame, &mut data)?;
///         }
///         text.extend_from_slice(&data);
///     }
/// }
/// assert_eq!(scanner.finish(&mut data)?, None);
/// assert_eq!(text, b"hello");
/// # Ok::<(), abz_codec::zstd::DecodeError>(())
/// ```
pub struct Scanner {
    decoding: Decoding,
    state: State,
    /// Whether there was a frame, or a skippable one.
    has_begun: bool,
    /// The number of the current or last frame, counted from 1; 0 before the first.
    number: u64,
    /// The offset of its first byte in the file.
    start: u64,
    feed: Feed<DecodeError>,
    /// Whether a skippable frame of pzstd came just before. It means that the next frame can be decoded by itself.
    is_hinted: bool,
    header: FrameHeader,
    /// The sum of the pieces of this frame so far.
    pieces: Pieces,
    stream: Option<Stream>,
    /// The offset at which the part that is being decoded begins.
    part: u64,
    /// The size of the contents that the streamed frame gave so far, in bytes.
    came: u64,
}

/// The detail of the fault of contents that have another size than their header states.
pub(super) const OTHER_SIZE: &str = "the size differs from the header";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// At the start of the file or the end of a frame.
    Between,
    /// In a skippable frame, before or after its size.
    Skippable,
    Skip {
        left: u64,
    },
    /// In a frame's header.
    Header,
    /// Behind the header, at this index of the held bytes, where a mark may begin.
    First {
        at: usize,
    },
    /// In a frame of pieces, before a mark.
    Mark,
    /// In a frame of pieces, behind the mark of a piece.
    Piece(mark::Piece),
    /// In a frame of pieces, behind the last mark.
    Last(mark::End),
    /// In a frame that is to be given out whole, before the block that begins at this index of the held bytes.
    Whole {
        block: usize,
        most: usize,
    },
    /// At the end of such a frame, all of whose blocks are held.
    End {
        len: usize,
        most: usize,
    },
    /// In a frame that is streamed, before a block.
    Block,
    /// In a part of a streamed frame: the held bytes from `fed` on, and `left` bytes more, are to be decoded.
    Part {
        fed: usize,
        left: usize,
        next: Next,
    },
    /// In a streamed frame, behind the last block.
    Checksum,
    /// After a fault, or the end.
    Ended,
}

/// The item that follows a part of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Block,
    Checksum,
    Nothing,
}

impl Scanner {
    /// Creates a scanner at the start of a file.
    pub fn new(decoding: &Decoding) -> Self {
        Scanner::at(decoding, 0, 0)
    }

    /// Creates a scanner behind `number` frames, at byte `offset` of the file.
    pub fn at(decoding: &Decoding, number: u64, offset: u64) -> Self {
        Scanner {
            decoding: decoding.clone(),
            state: State::Between,
            has_begun: number > 0,
            number,
            start: offset,
            feed: Feed::at(offset),
            is_hinted: false,
            header: FrameHeader { window: 0, contents: None, dictionary: 0, checksum: false },
            pieces: Pieces::default(),
            stream: None,
            part: offset,
            came: 0,
        }
    }

    /// Sets how decoded data is given out; see [`Giving`].
    #[must_use]
    pub fn giving(mut self, giving: Giving) -> Self {
        self.feed.giving = giving;
        self
    }

    /// Decides what follows a frame.
    fn between(&mut self, input: &mut &[u8]) -> Result<Step<Scanned<Frame>>, DecodeError> {
        let is_whole = self.feed.hold(input, MAGIC.len());
        if !may_begin_a_frame(&self.feed.held) {
            return match self.has_begun {
                true => Err(self.fault(Fault::TrailingGarbage)),
                false if !is_whole => Ok(Step::Starved),
                false => Err(self.fault(Fault::Magic { found: self.feed.held.clone() })),
            };
        }
        if !is_whole {
            return Ok(Step::Starved);
        }
        self.has_begun = true;
        self.state = State::Skippable;
        if self.feed.held == MAGIC {
            self.number += 1;
            self.start = self.feed.offset;
            self.state = State::Header;
        }
        Ok(Step::On)
    }

    fn skippable(&mut self, input: &mut &[u8]) -> Result<Step<Scanned<Frame>>, DecodeError> {
        if !self.feed.hold(input, SKIPPABLE_HEADER) {
            return Ok(Step::Starved);
        }
        let len = u32_at(&self.feed.held, 4);
        // pzstd states the size of the frame that follows.
        self.is_hinted = self.feed.held.starts_with(&SKIPPABLE) && len == 4;
        self.feed.release();
        self.state = State::Skip { left: len.into() };
        Ok(Step::On)
    }

    fn skip(&mut self, input: &mut &[u8], left: u64) -> Result<Step<Scanned<Frame>>, DecodeError> {
        let skipped = left.min(input.len() as u64);
        *input = &input[skipped as usize..];
        self.feed.offset += skipped;
        let left = left - skipped;
        self.state = if left == 0 { State::Between } else { State::Skip { left } };
        Ok(if left == 0 { Step::On } else { Step::Starved })
    }

    fn header(&mut self, input: &mut &[u8]) -> Result<Step<Scanned<Frame>>, DecodeError> {
        let (header, len) = loop {
            let held = self.feed.held.len();
            match FrameHeader::parse(&self.feed.held) {
                Ok(Some(found)) => break found,
                // Takes a byte at a time, so that nothing behind the header is taken.
                Ok(None) if self.feed.hold(input, held + 1) => {}
                Ok(None) => return Ok(Step::Starved),
                Err(expected) => {
                    return Err(
                        self.fault_at(self.feed.offset + MAGIC.len() as u64, Fault::Header { expected })
                    );
                }
            }
        };
        self.header = header;
        let given = self.decoding.dictionary.as_ref().map(|dictionary| dictionary.id());
        if header.dictionary != 0 && given != Some(header.dictionary) {
            return Err(self.fault(Fault::Dictionary { needed: header.dictionary, given }));
        }
        self.state = State::First { at: len };
        Ok(Step::On)
    }

    /// Decides how to handle a frame whose header is held and ends at index `at`.
    fn first(&mut self, input: &mut &[u8], at: usize) -> Result<Step<Scanned<Frame>>, DecodeError> {
        while self.feed.held.len() < at + MARK_LEN
            && let Some(wanted) = Mark::wants(&self.feed.held[at..])
        {
            if !self.feed.hold(input, at + wanted) {
                return Ok(Step::Starved);
            }
        }
        let is_hinted = mem::take(&mut self.is_hinted);
        let limit = self.decoding.most_whole();
        if let Some(Mark::Piece(piece)) = Mark::parse(&self.feed.held[at..])
            && piece.most as usize <= limit
        {
            self.feed.offset += at as u64;
            self.feed.held.drain(..at);
            self.pieces = Pieces::of_a_frame_with(&piece);
            self.state = State::Mark;
            return Ok(Step::On);
        }
        let header = self.header;
        let is_whole = match header.contents {
            Some(len) => len <= limit as u64 && (len <= SMALL || len % MULTIPLE == 0),
            None => {
                is_hinted && header.window <= self.decoding.memory_limit.unwrap_or(self.decoding.max_window)
            }
        };
        match is_whole {
            true => self.state = State::Whole { block: at, most: 0 },
            false => self.stream()?,
        }
        Ok(Step::On)
    }

    /// Returns the error of a fault in this frame, at the place that the scanner has reached.
    fn fault(&self, fault: Fault) -> DecodeError {
        self.fault_at(self.feed.offset, fault)
    }

    fn fault_at(&self, offset: u64, fault: Fault) -> DecodeError {
        let place = Place::Frame { number: self.number.max(1), start: self.start };
        DecodeError::new(place, offset, fault)
    }
}

/// Returns whether `start`, four bytes or fewer, can begin a frame or a skippable one.
fn may_begin_a_frame(start: &[u8]) -> bool {
    MAGIC.starts_with(start) || is_skippable(start)
}

impl States for Scanner {
    type Found = Scanned<Frame>;
    type Fault = Fault;

    /// The start of a frame up to the header of its first block.
    const BEGINNING: Beginning = Beginning {
        magic: &MAGIC,
        len: FrameHeader::MAX_LEN + BLOCK_HEADER,
        may_begin: |start| match FrameHeader::parse(start) {
            Ok(Some((header, len))) => {
                start[len..].first_chunk().is_some_and(|block| BlockHeader::parse(*block, &header).is_ok())
            }
            _ => false,
        },
    };

    const IS_EAGER: bool = true;

    fn feed(&mut self) -> &mut Feed<DecodeError> {
        &mut self.feed
    }

    fn step(&mut self, input: &mut &[u8], data: &mut Vec<u8>) -> Result<Step<Scanned<Frame>>, DecodeError> {
        match self.state {
            State::Between => self.between(input),
            State::Skippable => self.skippable(input),
            State::Skip { left } => self.skip(input, left),
            State::Header => self.header(input),
            State::First { at } => self.first(input, at),
            State::Mark => self.mark(input),
            State::Piece(piece) => self.piece(input, data, piece),
            State::Last(end) => self.last(input, end),
            State::Whole { block, most } => self.whole(input, block, most),
            State::End { len, most } => self.end(input, data, len, most),
            State::Block => self.block(input),
            State::Part { fed, left, next } => self.part(input, data, fed, left, next),
            State::Checksum => self.checksum(input),
            State::Ended => {
                *input = &[];
                Ok(Step::Starved)
            }
        }
    }

    fn end(&mut self) {
        self.state = State::Ended;
    }

    fn give_rest(&mut self, data: &mut Vec<u8>) -> Option<Scanned<Frame>> {
        self.feed.give_rest(data)
    }

    fn reconsider(&mut self, _: &mut Vec<u8>) -> Result<Step<Scanned<Frame>>, DecodeError> {
        if self.state == State::Block && self.give_cut_block() {
            return Ok(Step::On);
        }
        let streamed = match self.state {
            State::Whole { .. } | State::End { .. } if !self.feed.giving.verified => self.stream(),
            State::Piece(piece) if !self.feed.giving.verified => self.stream_piece(&piece),
            _ => return Ok(Step::Starved),
        };
        // If there is no memory for that, the file is cut all the same.
        Ok(if streamed.is_ok() { Step::On } else { Step::Starved })
    }

    fn cut(&mut self) -> Option<DecodeError> {
        let inside = match mem::replace(&mut self.state, State::Ended) {
            State::Ended => return None,
            State::Between if self.feed.held.is_empty() && self.has_begun => return None,
            State::Between if !may_begin_a_frame(&self.feed.held) => {
                return Some(self.fault(Fault::Magic { found: self.feed.held.clone() }));
            }
            State::Between | State::Header => Part::Header,
            State::Last(_) if self.feed.held.len() >= MARK_LEN + LAST_BLOCK.len() => Part::Checksum,
            State::Skippable | State::Skip { .. } => Part::Skippable,
            State::End { len, .. } if self.header.checksum && self.feed.held.len() + CHECKSUM >= len => {
                Part::Checksum
            }
            State::Checksum => Part::Checksum,
            State::First { .. } | State::Mark | State::Piece(_) | State::Last(_) => Part::Blocks,
            State::Whole { .. } | State::End { .. } | State::Block | State::Part { .. } => Part::Blocks,
        };
        Some(self.fault_at(self.feed.offset + self.feed.held.len() as u64, Fault::Truncated { inside }))
    }
}

impl Scanner {
    /// Returns the settings of the decoder.
    pub(super) fn decoding(&self) -> &Decoding {
        &self.decoding
    }

    /// Returns [`Giving::verified`].
    pub(super) fn gives_verified(&self) -> bool {
        self.feed.giving.verified
    }
}

impl fmt::Debug for Scanner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scanner")
            .field("frame", &self.number)
            .field("start", &self.start)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}
