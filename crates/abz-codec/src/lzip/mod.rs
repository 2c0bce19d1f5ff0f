//! The lzip file format, as members that can be encoded and decoded in parallel.
//!
//! A file is a series of members; its contents are the contents of the members, concatenated. The manual of lzip
//! describes the format, and so does the Internet draft *Lzip Compressed Format and the 'application/lzip' Media Type*.
//! Numbers are little-endian:
//!
//! | at | bytes | of a member |
//! |--:|--:|---|
//! | 0 | 4 | `LZIP` |
//! | 4 | 1 | the version, 1 |
//! | 5 | 1 | the dictionary size: 2 to the power of bits 0 to 4, less as many sixteenths as bits 5 to 7 state |
//! | 6 | ... | an LZMA stream (3 bits of literal context, 2 of position) with a marker at its end |
//! | *n* - 20 | 4 | the CRC-32 of the contents |
//! | *n* - 16 | 8 | the size of the contents |
//! | *n* - 8 | 8 | *n*, the size of the member |
//!
//! The LZMA stream may have other markers inside, where its writer has flushed it. liblzma does not know them, so this
//! module has its own decoder, which is slower. It decodes members with such markers, and the available part of a
//! member when the input pauses or ends. liblzma decodes members that are too large to be held. If the first marker of
//! such a member is in the bytes that are held, the slower decoder starts it again. If the first marker comes later,
//! see [`Strictness::late_flushes`].
//!
//! Members of version 0 (2008) have no member size at their end. They are read, but not written.
//!
//! With the member size at its end, a reader recognises without decoding that a member is complete: it is improbable
//! that other eight bytes of the member state the number of bytes before them. So a [`Scanner`] splits any file, even
//! from a pipe, and needs no index. (A file that was made to contain such a number inside its LZMA data is reported as
//! damaged. It is never decoded to wrong contents.)

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

/// A reader of an lzip file on one thread.
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
    /// Creates a reader of the file that `reader` gives, with [`Strictness::default`].
    pub fn new(reader: R) -> Self {
        Reader::with(Scanner::default(), reader)
    }
}

/// The sizes of a member's header and trailer in bytes.
const HEADER_LEN: usize = 6;
const TRAILER_LEN: usize = 20;

/// The size of a member without contents, the smallest possible, in bytes: its LZMA data is a first byte and a marker.
const EMPTY_LEN: usize = 36;
