//! What is left of a damaged file: its parts (blocks, members, frames) that are whole, wherever they lie.
//!
//! A [`Salvage`] knows of one format how to see where a part may begin, how to try whether one does, and what a file says of
//! the size of what is lost. A program that uses it looks through the whole file for [candidates](Salvage::candidates). They
//! may be [tried](Salvage::attempt) in any order and by many threads. Those that do not lie in another one are taken, in order.
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
//! All places are in bits, since blocks of bzip2 begin at any; those of other formats are multiples of 8.

use std::error::Error;
use std::io::{self, BufRead, Read, Seek, Write};
use std::ops::Range;

use crate::glance::glance;

/// Why a part is none: what was expected, and what was found.
pub type Reason = Box<dyn Error + Send + Sync>;

/// A part that is whole: its checksum is right, and so are all sizes that it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part<N> {
    /// Where it ends, in bits from the first byte that was read for it.
    pub end: u64,
    /// What it says of those around it.
    pub note: N,
}

/// How to find what is whole in a damaged file of one format.
pub trait Salvage {
    /// What tries candidates: a worker has one.
    type Tool: Default + Send;
    /// What a part says of those around it.
    type Note: Send;
    /// What is known where a part ends.
    type State: Send;

    /// What must begin between two parts, for people.
    const EXPECTED: &'static str;
    /// How many bytes show whether a part may begin in the first of them.
    const LOOK: usize;
    /// Fewer bytes hold no contents.
    const LEAST: u64;
    /// The most contents of a part that should be kept in memory, in bytes.
    const HOLD: usize;

    /// Appends to `found`, in order, where in `bytes` parts may begin, in bits. Near the end, within the last
    /// [`LOOK`](Self::LOOK) bytes, not all are found.
    fn candidates(bytes: &[u8], found: &mut Vec<u64>);

    /// Reads a part that begins at bit `bit` of the next byte of `input`, and writes its contents to `output` as they come.
    /// They are right only if it gives a part in the end. It reads on behind the part as far as it likes.
    ///
    /// # Errors
    ///
    /// Those of `input` and `output`; as the value, why it is no part.
    fn attempt(
        tool: &mut Self::Tool,
        bit: u32,
        input: &mut dyn BufRead,
        output: &mut dyn Write,
    ) -> io::Result<Result<Part<Self::Note>, Reason>>;

    /// What is known at the start of a file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    fn begin<F: Read + Seek>(file: &mut F) -> io::Result<Self::State>;

    /// True if the part at `start`, behind a gap, belongs to the file, as far as that is known: it may be one that lies in a
    /// damaged part as it is.
    fn admits(_state: &Self::State, _start: u64, _note: &Self::Note) -> bool {
        true
    }

    /// Goes on behind a part.
    fn note(state: &mut Self::State, note: &Self::Note);

    /// Goes on behind a gap.
    fn note_gap(state: &mut Self::State);

    /// Where the next part must begin, if `at` is where one ends: what is in between has no contents, and is right.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    fn pass<F: Read + Seek>(state: &mut Self::State, file: &mut F, at: u64) -> io::Result<u64>;

    /// What is wrong with the parts so far, if each is right and nothing is between them. `is_end`: the file ends here.
    fn doubt(state: &mut Self::State, is_end: bool) -> Option<Reason>;

    /// Where the damaged part at `start` ends, if its header says so and the file has the next one there.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    fn extent<F: Read + Seek>(_file: &mut F, _start: u64) -> io::Result<Option<u64>> {
        Ok(None)
    }

    /// The size of the contents of a gap in bytes, as the file says. Nothing of it is verified.
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

/// Where the file ends, if from byte `offset` on it has nothing but zeros; else `offset`.
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

/// The next `N` bytes, if there are so many.
pub(crate) fn take<const N: usize>(input: &mut dyn BufRead) -> io::Result<Option<[u8; N]>> {
    let mut bytes = [0; N];
    match input.read_exact(&mut bytes) {
        Ok(()) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}
