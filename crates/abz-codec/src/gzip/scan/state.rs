//! A scanner, what it finds, and how far it has come.

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

/// How each member begins: what is looked at behind one that says how long it is.
pub(super) const START: [u8; 3] = [MAGIC[0], MAGIC[1], DEFLATE];

/// The most contents of a member of BGZF (SAM specification, section 4.1), in bytes.
pub(in crate::gzip) const MAX_BGZF: u32 = 64 * 1024;

/// What a [`Scanner`] found next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scanned {
    /// A whole member to be decoded, which any thread can do without the others.
    Member(Member),
    /// Data that is decoded already, because its member did not say how long it is: it lies in the caller's buffer.
    /// It may be empty, and a [`Verifier`](crate::gzip::Verifier) has to see it.
    Data(Stretch),
}

/// What a [`Scanner`] found next that had a [`Guess`](crate::gzip::Guess).
#[derive(Debug)]
pub enum Next {
    /// What it finds without one.
    Scanned(Scanned),
    /// A part of a streamed member, which any thread can make data of.
    Guessed(Stretch, Guessed),
}

/// Finds the members in a gzip file that is pushed to it, piece by piece, from its start. It decodes nothing where a
/// header says how long its member is (see the [module](crate::gzip)), so it is fast enough to feed many decoders; the
/// other members it decodes itself, a chunk of 256 KiB at a time. It neither reads nor verifies: those can be done
/// elsewhere meanwhile. Where they need not be, a [`Splitter`](crate::gzip::Splitter) does all three.
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
    /// The member that was begun last, counted from 1; 0 before the first.
    pub(super) number: u64,
    /// The offset of its first byte.
    pub(super) start: u64,
    pub(super) feed: Feed<DecodeError>,
    /// The last member said that another one follows.
    pub(super) expects_more: bool,
    pub(super) inflater: Option<Inflater>,
    /// What is known of the member with marks in which this is.
    pub(super) marked: Marked,
    /// The CRC-32 and the size of what was given out in blocks, in a member that goes on as a stream.
    pub(super) before: Option<(u32, u64)>,
    /// The file ends in a block, which is decoded as a stream.
    pub(super) is_cut: bool,
    /// The first member that is not as large as its header says. From there on no header is asked for a size.
    pub(super) mistaken: Option<u64>,
    pub(super) aim: Aim,
}

/// Whether it is to stop before a block, for a guess of what follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aim {
    Nowhere,
    /// At one that begins at a bit of the file from the first to the second one.
    At(u64, u64),
    /// It is there.
    Reached,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// At the start of the file or the end of a member.
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
    /// In a member with marks, where a mark or the end of the deflate data is.
    Mark,
    /// There, in a block that is to be given out whole.
    Block { mark: Mark },
    /// There, in the trailer.
    MarkedTrailer,
    /// After an error.
    Ended,
}

impl Scanner {
    /// A scanner at the start of a file.
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
            is_cut: false,
            mistaken: None,
            aim: Aim::Nowhere,
        }
    }

    /// Gives out what it decodes as this says.
    #[must_use]
    pub fn giving(mut self, giving: Giving) -> Self {
        self.feed.giving = giving;
        self
    }

    /// A scanner behind so many members or blocks, of a file that goes on at the byte `offset` with another one.
    pub fn at(members: u64, offset: u64) -> Self {
        let marked = Marked { is_part: true, ..Marked::default() };
        Scanner { number: members, feed: Feed::at(offset), expects_more: true, marked, ..Scanner::new() }
    }

    /// A scanner behind so many members, of a file that may end at the byte `offset`.
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
