//! A scanner, its findings and its state.

use std::collections::VecDeque;
use std::fmt;

use crc32fast::Hasher;

use crate::feed::Feed;
use crate::gzip::error::DecodeError;
use crate::gzip::guess::Guessed;
use crate::gzip::header::{DEFLATE, MAGIC};
use crate::gzip::inflate::Inflater;
use crate::gzip::mark::Mark;
use crate::gzip::member::{Member, Stretch};
use crate::inflate::WINDOW;
use crate::parts::Giving;

/// The start of each member. The scanner looks for it behind a member that states its size.
pub(super) const START: [u8; 3] = [MAGIC[0], MAGIC[1], DEFLATE];

/// The most contents of a member of BGZF (SAM specification, section 4.1), in bytes.
pub(in crate::gzip) const MAX_BGZF: u32 = 64 * 1024;

/// An item that a [`Scanner`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scanned {
    /// A whole member, still to be decoded. Any thread can do that without the other members.
    Member(Member),
    /// Decoded data in the caller's buffer, because its member did not state its size. It may be empty, and a
    /// [`Verifier`](crate::gzip::Verifier) must be given it even then.
    Data(Stretch),
}

/// An item that a [`Scanner`] found with a [`Guess`](crate::gzip::Guess).
#[derive(Debug)]
pub enum Next<S = Vec<u16>> {
    /// An item that it would find without one.
    Scanned(Scanned),
    /// A part of a streamed member. Any thread can turn it into data.
    Guessed(Stretch, Guessed<S>),
}

/// A scanner, which finds the members of a gzip file that is pushed to it from its start. It does not decode a member
/// whose header states its size (see the [module](crate::gzip)), so it is fast enough to feed many decoders. It decodes
/// other members itself, a chunk of 256 KiB at a time. It neither reads the file nor verifies checksums, so other
/// threads can do that meanwhile. A [`Splitter`](crate::gzip::Splitter) does all three on one thread.
///
/// ```
/// use abz_codec::gzip::{Scanned, Scanner, Verifier};
///
/// let hello = b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xcb\x48\xcd\xc9\xc9\x07\0\x86\xa6\x10\x36\x05\0\0\0";
/// let (mut scanner, mut verifier) = (Scanner::new(), Verifier::new());
/// let (mut data, mut text) = (Vec::new(), Vec::new());
/// for mut piece in hello.chunks(10) {
///     while let Some(found) = scanner.next(&mut piece, &mut data)? {
///         let Scanned::Data(stretch) = found else { unreachable!("this member does not say how long it is") };
///         verifier.verify(&stretch, &data)?;
///         text.extend_from_slice(&data);
///     }
/// }
/// assert_eq!(scanner.finish(&mut data)?, None);
/// assert_eq!(text, b"hello");
/// # Ok::<(), abz_codec::gzip::DecodeError>(())
/// ```
pub struct Scanner {
    pub(super) state: State,
    /// The number of the current or last member, counted from 1; 0 before the first.
    pub(super) number: u64,
    /// The offset of its first byte in the file.
    pub(super) start: u64,
    pub(super) feed: Feed<DecodeError>,
    /// Whether the last member stated that another one follows.
    pub(super) expects_more: bool,
    pub(super) inflater: Option<Inflater>,
    /// The facts from the marks of the current member, if it has marks.
    pub(super) marked: Marked,
    /// The CRC-32 and the size of the contents given out in blocks, in a member whose rest is decoded as a stream.
    pub(super) before: Option<(u32, u64)>,
    /// Whether that is so because the last mark says so, or because the file ends inside a block.
    pub(super) is_told: bool,
    /// The number of the first member whose size differs from the one in its header. Sizes in headers are ignored from
    /// there on.
    pub(super) mistaken: Option<u64>,
    pub(super) aim: Aim,
}

/// The place at which the scanner stops, for a guess of the data that follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aim {
    Nowhere,
    /// Stop before a block that begins between these two bits of the file.
    At(u64, u64),
    /// The scanner is at such a place.
    Reached,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Between members, or at the start of the file.
    Between,
    /// In zeros after the last member, the first of them at `from`.
    Padding { from: u64 },
    /// In a header.
    Header,
    /// In a member of `len` bytes that is to be given out whole.
    Member { len: usize, header_len: usize, uncompressed: Option<u32> },
    /// In the deflate data of a member that is streamed.
    Data,
    /// In its trailer.
    Trailer,
    /// In a member with marks, at a mark or at the end of the deflate data.
    Mark,
    /// In a block of a member with marks, which is to be given out whole.
    Block { mark: Mark },
    /// In the trailer of a member with marks.
    MarkedTrailer,
    /// After an error.
    Ended,
}

impl Scanner {
    /// Creates a scanner at the start of a file.
    pub fn new() -> Self {
        Scanner {
            state: State::Between,
            number: 0,
            start: 0,
            feed: Feed::at(0),
            expects_more: false,
            inflater: None,
            marked: Marked::default(),
            before: None,
            is_told: false,
            mistaken: None,
            aim: Aim::Nowhere,
        }
    }

    /// Sets how decoded data is given out; see [`Giving`].
    #[must_use]
    pub fn giving(mut self, giving: Giving) -> Self {
        self.feed.giving = giving;
        self
    }

    /// Creates a scanner of the rest of a file, behind `members` members. The rest
    /// begins at byte `offset` with a member or a mark.
    pub fn at(members: u64, offset: u64) -> Self {
        let marked = Marked { is_part: true, ..Marked::default() };
        Scanner { number: members, feed: Feed::at(offset), expects_more: true, marked, ..Scanner::new() }
    }

    /// Creates a scanner of the rest of a file, behind `members` members. The file may end at byte `offset`.
    pub(in crate::gzip) fn behind(members: u64, offset: u64) -> Self {
        Scanner { number: members, feed: Feed::at(offset), ..Scanner::new() }
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
            .field("member", &self.number)
            .field("start", &self.start)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

/// The facts from the marks of a member, as far as it was scanned.
#[derive(Clone, Debug, Default)]
pub(super) struct Marked {
    /// The number of blocks found.
    pub(super) blocks: u64,
    /// The CRC-32 of the contents of the blocks, and their size in bytes.
    pub(super) sum: Hasher,
    pub(super) len: u64,
    /// The number that all marks of the member have.
    pub(super) number: u32,
    /// Whether the scan began at a mark, so that nothing is known of the blocks before.
    pub(super) is_part: bool,
    /// The deflate data of the last blocks, and the size of the contents of each: as many as later data may refer to.
    pub(super) recent: VecDeque<(Vec<u8>, usize)>,
}

impl Marked {
    /// Adds a block with its deflate data.
    pub(super) fn add(&mut self, mark: &Mark, deflated: &[u8]) {
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
