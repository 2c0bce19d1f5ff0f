//! The lzip file format, as members that can be made and read in parallel.
//!
//! A file is a series of members; its contents are theirs, one after another. The format is described in the manual of
//! lzip, and in the Internet draft *Lzip Compressed Format and the 'application/lzip' Media Type*. Numbers are
//! little-endian:
//!
//! | at | bytes | of a member |
//! |--:|--:|---|
//! | 0 | 4 | `LZIP` |
//! | 4 | 1 | the version, 1 |
//! | 5 | 1 | the size of the dictionary: bits 0 to 4 are a power of two, of which bits 5 to 7 take so many sixteenths away |
//! | 6 | ... | an LZMA stream (3 bits of literal context, 2 of position) with a marker at its end |
//! | *n* - 20 | 4 | the CRC-32 of the contents |
//! | *n* - 16 | 8 | the size of the contents |
//! | *n* - 8 | 8 | *n*, the size of the member |
//!
//! The LZMA stream may have other markers inside, where its writer has flushed it. liblzma does not know them: this module has a
//! decoder of its own, which is slower. It decodes members that have such markers, and what is there of a member when the input
//! pauses or ends. A member that is too large to be held is decoded by liblzma. If its first marker is in the bytes that are held,
//! the slower decoder begins with it again. If the first marker comes later, see [`Strictness::late_flushes`].
//!
//! Members of version 0, of 2008, have no such last number. They are read, and not written.
//!
//! The last number is what lets a reader that has not decoded a member know that it is all there: at no other place does
//! a member hold, by chance, the number of bytes before it. So a [`Scanner`] cuts any file, from a pipe too, and needs no
//! index at its end. (In a file that was made to hold such a number inside of its LZMA data, a member would be cut there,
//! and is then called damaged: none is decoded to other contents than it has.)

mod decode;
mod encode;
mod error;
mod flushed;
mod header;
mod salvage;
mod scan;
mod survey;

pub use decode::{Decoder, Member};
pub use encode::{Encoder, Search, Settings};
pub use error::{DecodeError, Fault, Part};
pub use header::MAGIC;
pub use salvage::Salvager;
pub use scan::{Scanner, Strictness};
pub use survey::{Contents, Extent, Survey, parts};

/// Reads an lzip file on one thread.
///
/// ```
/// use abz_codec::lzip;
///
/// let file = lzip::Encoder::new(lzip::Settings::of_level(6)).encode(b"a branch of a river")?;
/// let mut data = Vec::new();
/// assert!(lzip::Reader::new(&file[..]).read_into(&mut data)?);
/// assert_eq!(data, b"a branch of a river");
/// # Ok::<(), std::io::Error>(())
/// ```
pub type Reader<R> = crate::parts::Reader<R, Scanner>;

impl<R: std::io::Read> Reader<R> {
    /// Reads the file that `reader` gives, as [`Strictness::default`] has it.
    pub fn new(reader: R) -> Self {
        Reader::with(Scanner::default(), reader)
    }
}

/// The sizes of a member's header and trailer in bytes.
const HEADER_LEN: usize = 6;
const TRAILER_LEN: usize = 20;

/// The size of a member without contents, the least there is: its LZMA data is a first byte, and a marker.
const EMPTY_LEN: usize = 36;
