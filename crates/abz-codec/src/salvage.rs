//! Salvage of a damaged file: the parts (blocks, members, frames) that are undamaged, wherever they lie.
//!
//! A [`Salvage`] knows for one format where a part may begin, how to try whether one does, and what a file states about
//! the size of lost contents. A program that uses it looks through the whole file for
//! [candidates](Salvage::candidates). They may be [tried](Salvage::attempt) in any order and by many threads. The parts
//! that do not lie inside another one are taken, in order.
//!
//! ```
//! use abz_codec::lzip::{Encoder, Salvager, Settings};
//! use abz_codec::salvage::Salvage;
//!
//! // Two members, of which the first is damaged.
//! let mut encoder = Encoder::new(Settings::of_level(6));
//! let mut file = encoder.encode_into(b"down the river", Vec::new())?;
//! let border = file.len();
//! file.extend(encoder.encode_into(b"to the sea", Vec::new())?);
//! file[border / 2] ^= 1;
//!
//! let mut starts = Vec::new();
//! Salvager::candidates(&file, &mut starts);
//! assert_eq!(starts, [0, 8 * border as u64]);
//!
//! let mut tool = Default::default();
//! let mut found = Vec::new();
//! assert!(Salvager::attempt(&mut tool, 0, &mut &file[..], &mut Vec::new())?.is_err());
//! let part = Salvager::attempt(&mut tool, 0, &mut &file[border..], &mut found)?.expect("it is whole");
//! assert_eq!((part.end, &found[..]), (8 * (file.len() - border) as u64, &b"to the sea"[..]));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! All places are in bits, because blocks of bzip2 begin at any bit. The places of other formats are multiples of 8.

use std::error::Error;
use std::io::{self, BufRead, Read, Seek, Write};
use std::ops::Range;

use crate::glance::glance;

/// The reason why there is no part at a place: what was expected, and what was found.
pub type Reason = Box<dyn Error + Send + Sync>;

/// A part that is undamaged: its checksum is right, and so are all sizes that it states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part<N> {
    /// The end of the part, in bits from the first byte that was read for it.
    pub end: u64,
    /// The note of the part about its neighbours.
    pub note: N,
}

/// The ways to find undamaged parts in a damaged file of one format.
pub trait Salvage {
    /// A decoder for candidates. Each worker has one.
    type Tool: Default + Send;
    /// A note of a part about its neighbours, such as its number.
    type Note: Send;
    /// The state of the search at the end of a part.
    type State: Send;

    /// The thing that must begin between two parts, as messages call it.
    const EXPECTED: &'static str;
    /// The number of bytes that show whether a part may begin in the first of them.
    const LOOK: usize;
    /// The size in bytes of the smallest part with contents.
    const LEAST: u64;
    /// The most contents of a part that should be kept in memory, in bytes.
    const HOLD: usize;

    /// Appends the places in `bytes` where parts may begin to `found`, in order and in bits. It may miss some in the
    /// last [`LOOK`](Self::LOOK) bytes.
    fn candidates(bytes: &[u8], found: &mut Vec<u64>);

    /// Reads a part that begins at bit `bit` of the next byte of `input`, and writes its contents to `output` as they
    /// come. These are right only if a part is returned in the end. It may read past the end of the part.
    ///
    /// # Errors
    ///
    /// The errors of `input` and `output`. The inner error is the reason why there is no part.
    fn attempt(
        tool: &mut Self::Tool,
        bit: u32,
        input: &mut dyn BufRead,
        output: &mut dyn Write,
    ) -> io::Result<Result<Part<Self::Note>, Reason>>;

    /// Returns the state at the start of a file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    fn begin<F: Read + Seek>(file: &mut F) -> io::Result<Self::State>;

    /// Returns whether the part at `start`, behind a gap, belongs to the file, as far as is known. It may instead be
    /// part of the contents of a damaged part, which were stored without compression.
    fn admits(_state: &Self::State, _start: u64, _note: &Self::Note) -> bool {
        true
    }

    /// Updates the state behind a part.
    fn note(state: &mut Self::State, note: &Self::Note);

    /// Updates the state behind a gap.
    fn note_gap(state: &mut Self::State);

    /// Returns the place where the next part must begin, if one ends at `at`. The bytes in between are valid and have
    /// no contents.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    fn pass<F: Read + Seek>(state: &mut Self::State, file: &mut F, at: u64) -> io::Result<u64>;

    /// Returns the fault in the parts so far, if each is right and nothing is between them. `is_end` is true if the
    /// file ends here.
    fn doubt(state: &mut Self::State, is_end: bool) -> Option<Reason>;

    /// Returns the end of the damaged part at `start`, if its header states it and the next part of the file is there.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    fn extent<F: Read + Seek>(_file: &mut F, _start: u64) -> io::Result<Option<u64>> {
        Ok(None)
    }

    /// Returns the size of the contents of a gap in bytes, if the file states it. The size is not verified.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    fn missing<F: Read + Seek>(
        _state: &Self::State,
        _file: &mut F,
        _gap: &Range<u64>,
    ) -> io::Result<Option<u64>> {
        Ok(None)
    }
}

/// Returns the end of the file if only zeros follow byte `offset`, and otherwise `offset`.
pub(crate) fn behind_zeros<F: Read + Seek>(file: &mut F, offset: u64) -> io::Result<u64> {
    let mut bytes = [0; 4096];
    let mut at = offset;
    loop {
        let found = glance(file, at, &mut bytes)?;
        if found.iter().any(|&byte| byte != 0) {
            return Ok(offset);
        }
        if found.is_empty() {
            return Ok(at);
        }
        at += found.len() as u64;
    }
}

/// Reads the next `N` bytes; `None` if there are fewer.
pub(crate) fn take<const N: usize>(input: &mut dyn BufRead) -> io::Result<Option<[u8; N]>> {
    let mut bytes = [0; N];
    match input.read_exact(&mut bytes) {
        Ok(()) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}
